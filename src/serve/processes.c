/* SPDX-License-Identifier: Apache-2.0 */
/* A segment's file is locked by its process for as long as it lives (record/segment.c), so whoever
   can lock it looks at a dead one: what a dead process left belongs to recovery, not to us. */
#include "serve/processes.h"

#include "base/ids.h"
#include "record/reader_impl.h"
#include "record/segment_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef union first_bytes {
    sonde__segment_header header;
    uint8_t bytes[SONDE__SEGMENT_HEADER_BYTES];
} first_bytes;

static void copy_text(char *out, size_t size, const char *text)
{
    if (!text)
        return;
    size_t len = strnlen(text, size - 1);
    memcpy(out, text, len);
    out[len] = '\0';
}

/* The name of a session from its journal's path, where the first frame does not tell. */
static void name_from_path(sonde__process *process, const char *path)
{
    const char *slash = strrchr(path, '/');
    copy_text(process->session, sizeof process->session, slash ? slash + 1 : path);
    char *dot = strstr(process->session, ".sonde");
    if (dot)
        *dot = '\0';
}

/* The first file of the session: that of who opened it, beside those of who joined. */
static void find_journal(sonde__process *process, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) : 0;
    snprintf(process->journal, sizeof process->journal, "%.*s/%s.sonde", (int)folder, path,
             process->session);
}

static void read_start_frame(sonde__process *process, const sonde__segment_header *header)
{
    size_t length;
    sonde__decoder decoder = {0};
    sonde__entry entry;
    sonde__run_info info = {0};
    if (sonde__frame_check(header->start_frame, header->start_frame_bytes, &length) == SONDE_OK &&
        sonde__decoder_start(&decoder, header->start_frame) == SONDE_OK)
        while (sonde__decoder_next(&decoder, &entry))
            if (entry.kind == SONDE__KIND_RUN_BEGIN)
                sonde__run_info_read(&info, &decoder, &entry);
    copy_text(process->session, sizeof process->session, info.run.session_name);
    copy_text(process->workflow, sizeof process->workflow, info.run.workflow_name);
    copy_text(process->host, sizeof process->host, info.run.host);
    process->started_wall_ns = info.run.started_wall_ns;
    sonde__run_info_free(&info);
    sonde__decoder_free(&decoder);
}

static void read_program(sonde__process *process)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%u/comm", process->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t got = read(fd, process->program, sizeof process->program - 1);
    close(fd);
    size_t len = got > 0 ? (size_t)got : 0;
    process->program[len] = '\0';
    process->program[strcspn(process->program, "\n")] = '\0';
}

static sonde__process *make_process(const sonde__segment_header *header, uint64_t run)
{
    sonde__process *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->set = sonde_metric_set_create();
    if (!made->set) {
        free(made);
        return NULL;
    }
    made->run = run;
    made->pid = header->pid;
    snprintf(made->pid_text, sizeof made->pid_text, "%u", made->pid);
    sonde__id_to_hex(run, made->run_text);
    name_from_path(made, header->journal_path);
    read_start_frame(made, header);
    find_journal(made, header->journal_path);
    read_program(made);
    return made;
}

static void free_process(sonde__process *process)
{
    sonde_metric_set_destroy(process->set);
    free(process);
}

static sonde__process *find_run(const sonde__processes *all, uint64_t run)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i]->run == run)
            return all->list[i];
    return NULL;
}

static bool header_good(const first_bytes *first, uint64_t run)
{
    const sonde__segment_header *header = &first->header;
    return memcmp(header->magic, SONDE__SEGMENT_MAGIC, sizeof header->magic) == 0 &&
           header->layout == SONDE__SEGMENT_LAYOUT && header->run == run && header->pid > 0 &&
           header->start_frame_bytes <= sizeof header->start_frame &&
           memchr(header->journal_path, '\0', sizeof header->journal_path) != NULL;
}

/* True: the file is a segment that a living process holds. *dead: one that nobody holds. */
static bool is_held(int fd, first_bytes *first, bool *dead)
{
    struct stat info;
    *dead = false;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
        (info.st_mode & 077) != 0)
        return false;
    ssize_t got = pread(fd, first->bytes, sizeof first->bytes, 0);
    if (got != (ssize_t)sizeof first->bytes ||
        atomic_load_explicit(&first->header.ready, memory_order_acquire) == 0)
        return false; /* it may still be made: a lock of ours would be in the way */
    *dead = flock(fd, LOCK_SH | LOCK_NB) == 0;
    return !*dead && errno == EWOULDBLOCK;
}

static void add_process(sonde__processes *all, const first_bytes *first, uint64_t run)
{
    sonde__process *made = NULL;
    if (header_good(first, run) && all->count < SONDE__SERVE_PROCESSES_MAX)
        made = make_process(&first->header, run);
    if (!made) {
        all->refused++;
        return;
    }
    made->seen = true;
    all->list[all->count++] = made;
    all->changes++;
}

/* Where a dead run is, or would be, in the table; runs are random and never 0. */
static uint64_t *dead_place(sonde__processes *all, uint64_t run)
{
    size_t at = run % SONDE__SERVE_DEAD_MAX;
    while (all->dead[at] != 0 && all->dead[at] != run)
        at = (at + 1) % SONDE__SERVE_DEAD_MAX;
    return &all->dead[at];
}

static void bury(sonde__processes *all, uint64_t run)
{
    if (all->dead_count >= SONDE__SERVE_DEAD_MAX / 2) {
        memset(all->dead, 0, sizeof all->dead);
        all->dead_count = 0;
    }
    *dead_place(all, run) = run;
    all->dead_count++;
}

static void visit(void *user, const char *path)
{
    sonde__processes *all = user;
    uint64_t run;
    size_t len = strlen(path);
    if (len < 16 || !sonde__id_from_hex(path + len - 16, 16, &run) || run == 0 ||
        *dead_place(all, run) == run)
        return;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    first_bytes first;
    bool free_to_lock;
    bool held = is_held(fd, &first, &free_to_lock);
    close(fd);
    sonde__process *known = find_run(all, run);
    if (held && known)
        known->seen = true;
    else if (held)
        add_process(all, &first, run);
    else if (free_to_lock)
        bury(all, run);
}

static int by_start(const void *a, const void *b)
{
    const sonde__process *x = *(sonde__process *const *)a;
    const sonde__process *y = *(sonde__process *const *)b;
    if (x->started_wall_ns != y->started_wall_ns)
        return x->started_wall_ns < y->started_wall_ns ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

void sonde__processes_look(sonde__processes *all)
{
    for (size_t i = 0; i < all->count; i++)
        all->list[i]->seen = false;
    sonde__segment_list((uint32_t)geteuid(), visit, all);
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        sonde__process *one = all->list[i];
        if (one->seen) {
            all->list[kept++] = one;
            one->readable = sonde_metric_set_read_run(one->set, one->run);
            all->refused += one->readable == SONDE_EBADDATA;
            continue;
        }
        free_process(one);
        all->changes++;
    }
    all->count = kept;
    qsort(all->list, all->count, sizeof(void *), by_start);
}

const sonde__process *sonde__processes_find(const sonde__processes *all, const char *id)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i]->pid_text, id) == 0 || strcmp(all->list[i]->run_text, id) == 0)
            return all->list[i];
    return NULL;
}

void sonde__processes_free(sonde__processes *all)
{
    for (size_t i = 0; i < all->count; i++)
        free_process(all->list[i]);
    *all = (sonde__processes){.count = 0};
}
