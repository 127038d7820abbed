/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery: this process finds itself by its segment; files that lie, shrink or vanish while they
   are read are passed over. */
#include "base/ids.h"
#include "serve/processes.h"
#include "sonde/sonde.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 512, TASKS = 10 };

static char shm[64], folder[64];
static sonde_session *session;

static int setup(void **state)
{
    (void)state;
    snprintf(shm, sizeof shm, "/dev/shm/sv%d", (int)getpid());
    snprintf(folder, sizeof folder, "/tmp/sonde-served-XXXXXX");
    if (mkdir(shm, 0700) != 0 || !mkdtemp(folder))
        return -1;
    setenv("SONDE_SHM_DIR", shm, 1);
    setenv("SONDE_DIR", folder, 1);
    if (sonde_open("watched", NULL, &session) != SONDE_OK)
        return -1;
    for (int i = 0; i < TASKS; i++)
        sonde_task_end(sonde_task_begin(SONDE_NAME("step")));
    return sonde_flush(session, 0, 2000000000u) == SONDE_OK ? 0 : -1;
}

static void empty_folder(const char *path)
{
    DIR *dir = opendir(path);
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(path);
}

static int teardown(void **state)
{
    (void)state;
    sonde_close(session);
    empty_folder(shm);
    empty_folder(folder);
    return 0;
}

static void test_finds_what_runs(void **state)
{
    (void)state;
    static sonde__processes all;
    sonde__processes_look(&all);
    assert_int_equal(all.count, 1);
    const sonde__process *one = all.list[0];
    assert_int_equal(one->pid, getpid());
    assert_string_equal(one->session, "watched");
    assert_true(one->started_wall_ns > 0);
    assert_int_equal(one->readable, SONDE_OK);
    assert_ptr_equal(sonde__processes_find(&all, one->pid_text), one);
    assert_ptr_equal(sonde__processes_find(&all, one->run_text), one);
    assert_null(sonde__processes_find(&all, "0"));
    sonde_snapshot snapshot;
    sonde__processes_snapshot(&all, NULL, 1, &snapshot);
    assert_int_equal(snapshot.tasks_executed, TASKS);
    assert_int_equal(snapshot.tasks_failed, 0);
    assert_true(snapshot.p50_latency_ms > 0 && snapshot.p50_latency_ms <= snapshot.p99_latency_ms);
    sonde__processes_tick(&all, 1000000000u);
    sonde__processes_snapshot(&all, one, 3000000000u, &snapshot);
    assert_true(snapshot.throughput_tasks_per_sec == 0);
    sonde__processes_free(&all);
}

/* The first file of that prefix, copied to one of another run. Returns a descriptor of the copy. */
static int copy_as(const char *prefix, uint64_t run, char *path)
{
    char from[PATH_BYTES] = "";
    char name[64];
    char hex[17] = "";
    snprintf(name, sizeof name, "%s.%u.", prefix, (unsigned)geteuid());
    DIR *dir = opendir(shm);
    for (const struct dirent *entry; dir && !from[0] && (entry = readdir(dir)) != NULL;)
        if (strncmp(entry->d_name, name, strlen(name)) == 0)
            snprintf(from, sizeof from, "%s/%s", shm, entry->d_name);
    closedir(dir);
    sonde__id_to_hex(run, hex);
    snprintf(path, PATH_BYTES, "%s/%s%s", shm, name, hex);
    int in = open(from, O_RDONLY);
    int out = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(in >= 0 && out >= 0);
    static char piece[1 << 16];
    for (ssize_t got; (got = read(in, piece, sizeof piece)) > 0;)
        assert_int_equal(write(out, piece, (size_t)got), got);
    close(in);
    return out;
}

static void test_a_dead_one_is_not_shown(void **state)
{
    (void)state;
    static sonde__processes all;
    char path[PATH_BYTES];
    close(copy_as("sonde", 0x1234, path)); /* nobody holds its lock */
    sonde__processes_look(&all);
    assert_int_equal(all.count, 1);
    unlink(path);
    sonde__processes_free(&all);
}

typedef struct liar {
    int segment, metrics;
    off_t size[2];
    _Atomic bool stop;
} liar;

/* Truncates, restores and overwrites both files at random. */
static void *lie(void *user)
{
    liar *l = user;
    unsigned seed = 7;
    while (!atomic_load(&l->stop)) {
        unsigned random = (unsigned)rand_r(&seed);
        int which = (int)(random & 1);
        int fd = which ? l->segment : l->metrics;
        uint64_t word = random % 3 ? ((uint64_t)random << 32) | random : UINT64_MAX;
        off_t at = (off_t)(random % 6000 / 8 * 8);
        if (random % 16 == 0 && ftruncate(fd, (off_t)(random % 9000)) == 0)
            continue;
        if (ftruncate(fd, l->size[which]) != 0 ||
            pwrite(fd, &word, sizeof word, at + 8) != (ssize_t)sizeof word)
            break;
    }
    return NULL;
}

static void test_lies_while_being_read(void **state)
{
    (void)state;
    static sonde__processes all;
    char segment[PATH_BYTES];
    char metrics[PATH_BYTES];
    liar l = {.stop = false};
    l.segment = copy_as("sonde", 0x7777, segment);
    l.metrics = copy_as("sonde-metrics", 0x7777, metrics);
    l.size[0] = lseek(l.metrics, 0, SEEK_END);
    l.size[1] = lseek(l.segment, 0, SEEK_END);
    assert_int_equal(flock(l.segment, LOCK_EX | LOCK_NB), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, lie, &l), 0);
    for (int i = 0; i < 500; i++) {
        sonde_snapshot snapshot;
        sonde__processes_look(&all);
        sonde__processes_snapshot(&all, NULL, (uint64_t)i, &snapshot);
        bool there = false; /* whatever the other one says, ours is as it was */
        for (size_t k = 0; k < all.count; k++)
            there |= all.list[k]->pid == (uint32_t)getpid() &&
                     strcmp(all.list[k]->session, "watched") == 0 &&
                     all.list[k]->readable == SONDE_OK;
        assert_true(there);
    }
    atomic_store(&l.stop, true);
    pthread_join(thread, NULL);
    assert_true(all.refused > 0);
    close(l.segment);
    close(l.metrics);
    unlink(segment);
    unlink(metrics);
    sonde__processes_look(&all);
    assert_int_equal(all.count, 1);
    sonde__processes_free(&all);
}

static void test_other_files_of_that_name(void **state)
{
    (void)state;
    static sonde__processes all;
    char path[PATH_BYTES];
    char link[PATH_BYTES];
    snprintf(path, sizeof path, "%s/sonde.%u.00000000000000aa", shm, (unsigned)geteuid());
    snprintf(link, sizeof link, "%s/sonde.%u.00000000000000ab", shm, (unsigned)geteuid());
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(symlink("/dev/zero", link), 0);
    sonde__processes_look(&all);
    assert_int_equal(all.count, 1);
    unlink(path);
    unlink(link);
    sonde__processes_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_what_runs),
        cmocka_unit_test(test_a_dead_one_is_not_shown),
        cmocka_unit_test(test_lies_while_being_read),
        cmocka_unit_test(test_other_files_of_that_name),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
