/* SPDX-License-Identifier: Apache-2.0 */
/* Who is below whom is asked of the kernel process by process (/proc/PID/task/TID/children), which
   costs by the size of the family, not of the machine. Kernels without that file (no
   CONFIG_PROC_CHILDREN) are scanned for parents. */
#include "agent/family.h"

#include "capture/parsers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096, PATH_BYTES = 80 };

typedef struct search {
    pid_t pids[SONDE__FAMILY_MAX];
    size_t count;
    size_t beyond;
} search;

/* The text of a small file, NUL-terminated. 0: it cannot be read or is empty. */
static size_t read_text(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, out, size - 1);
    close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

static void add_pid(search *found, long pid)
{
    if (found->count < SONDE__FAMILY_MAX)
        found->pids[found->count++] = (pid_t)pid;
    else
        found->beyond++;
}

static bool add_children_of_thread(search *found, const char *pid, const char *tid)
{
    char path[PATH_BYTES], text[TEXT_BYTES];
    snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/children", pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got;
    size_t held = 0;
    while ((got = read(fd, text + held, sizeof text - 1 - held)) > 0) {
        held += (size_t)got;
        text[held] = '\0';
        char *at = text, *blank;
        while ((blank = strchr(at, ' ')) != NULL) {
            add_pid(found, strtol(at, NULL, 10));
            at = blank + 1;
        }
        held = strlen(at);
        memmove(text, at, held);
    }
    close(fd);
    return true;
}

/* False: this kernel cannot tell. */
static bool add_children(search *found, pid_t pid)
{
    char path[PATH_BYTES], number[24];
    snprintf(number, sizeof number, "%d", (int)pid);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return true; /* it has ended */
    bool known = true, any = false;
    for (struct dirent *entry; known && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        known = add_children_of_thread(found, number, entry->d_name) || any;
        any = true;
    }
    closedir(dir);
    return known;
}

/* "PID (COMM) S PPID ...": COMM may hold anything, so the last parenthesis counts. */
static long parent_of(const char *text)
{
    const char *close = strrchr(text, ')');
    return close && close[1] == ' ' && close[2] ? strtol(close + 3, NULL, 10) : 0;
}

/* All processes with their parents, then those below root, generation by generation. */
static void scan_all(search *found, pid_t root)
{
    enum { LIMIT = 65536 };
    struct link {
        pid_t pid, parent;
    } *links = malloc(LIMIT * sizeof *links);
    DIR *dir = links ? opendir("/proc") : NULL;
    size_t count = 0;
    for (struct dirent *entry; dir && count < LIMIT && (entry = readdir(dir)) != NULL;) {
        char path[PATH_BYTES], text[TEXT_BYTES];
        long pid = strtol(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%ld/stat", pid);
        if (pid > 0 && read_text(path, text, sizeof text))
            links[count++] = (struct link){(pid_t)pid, (pid_t)parent_of(text)};
    }
    if (dir)
        closedir(dir);
    found->count = found->beyond = 0;
    pid_t parent = root;
    for (size_t next = 0;; next++) {
        for (size_t i = 0; i < count; i++)
            if (links[i].parent == parent)
                add_pid(found, links[i].pid);
        if (next >= found->count)
            break;
        parent = found->pids[next];
    }
    free(links);
}

static void find_all(search *found, pid_t root)
{
    found->count = found->beyond = 0;
    bool known = add_children(found, root);
    for (size_t i = 0; known && i < found->count; i++)
        known = add_children(found, found->pids[i]);
    if (!known)
        scan_all(found, root);
}

bool sonde__family_io(pid_t pid, uint64_t *read_bytes, uint64_t *written_bytes)
{
    char path[PATH_BYTES], text[TEXT_BYTES];
    uint64_t counters[6];
    snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    size_t len = read_text(path, text, sizeof text);
    if (len == 0 || sonde__parse_pid_io(text, len, counters) != SONDE_OK)
        return false;
    *read_bytes = counters[2];
    *written_bytes = counters[3];
    return true;
}

static void note_name(sonde__family *out, pid_t pid, const char *text)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (out->named == sizeof out->first / sizeof *out->first || !open || !close)
        return;
    sonde__relative *relative = &out->first[out->named++];
    relative->pid = pid;
    snprintf(relative->comm, sizeof relative->comm, "%.*s", (int)(close - open - 1), open + 1);
}

/* False: it has ended (a zombie uses nothing any more; who waits for it counts it). */
static bool add_one(pid_t pid, sonde__family *out)
{
    char path[PATH_BYTES], text[TEXT_BYTES];
    sonde__pid_stat stat;
    uint64_t pages[7], read_bytes, written_bytes;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    size_t len = read_text(path, text, sizeof text);
    const char *close = strrchr(text, ')');
    if (len == 0 || !close || close[1] != ' ' || close[2] == 'Z' || close[2] == 'X' ||
        sonde__parse_pid_stat(text, len, &stat) != SONDE_OK)
        return false;
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    out->threads += stat.threads;
    out->user_ns += (stat.user_ticks + stat.children_user_ticks) * tick_ns;
    out->system_ns += (stat.system_ticks + stat.children_system_ticks) * tick_ns;
    note_name(out, pid, text);
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    len = read_text(path, text, sizeof text);
    if (len > 0 && sonde__parse_statm(text, len, pages) == SONDE_OK)
        out->rss_bytes += pages[1] * (uint64_t)sysconf(_SC_PAGESIZE);
    if (sonde__family_io(pid, &read_bytes, &written_bytes)) {
        out->read_bytes += read_bytes;
        out->written_bytes += written_bytes;
    } else {
        out->denied++;
    }
    return true;
}

void sonde__family_look(pid_t root, sonde__family *out)
{
    static search found; /* 16 KiB; only the one supervising thread looks */
    *out = (sonde__family){0};
    find_all(&found, root);
    out->beyond = found.beyond;
    for (size_t i = 0; i < found.count; i++)
        out->processes += add_one(found.pids[i], out);
    out->processes += found.beyond;
}
