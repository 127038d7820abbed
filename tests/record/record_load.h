/* SPDX-License-Identifier: Apache-2.0 */
/* A load whose progress an observer knows exactly: threads that record numbered tasks and, after
   each end has returned, put the count into memory shared with the observer. */
#ifndef SONDE_RECORD_LOAD_H
#define SONDE_RECORD_LOAD_H

#include "record_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { LOAD_THREADS_MAX = 8 };

typedef struct load_board {
    _Atomic uint64_t ended[LOAD_THREADS_MAX]; /* tasks whose end has returned */
    _Atomic uint32_t outer;                   /* threads whose outer task is open */
    _Atomic uint32_t go;
} load_board;

static inline load_board *load_board_new(void)
{
    void *board =
        mmap(NULL, sizeof(load_board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(board != MAP_FAILED);
    return board;
}

typedef struct load_thread {
    load_board *board;
    unsigned index;
    uint64_t limit; /* tasks; 0: for ever */
} load_thread;

static void *load_main(void *argument)
{
    const load_thread *me = argument;
    sonde_task outer = sonde_task_begin(SONDE_NAME("outer"));
    sonde_task_int(outer, SONDE_USED, SONDE_NAME("thread"), me->index);
    atomic_fetch_add(&me->board->outer, 1);
    for (uint64_t i = 0; me->limit == 0 || i < me->limit; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("work"));
        sonde_task_int(task, SONDE_USED, SONDE_NAME("thread"), me->index);
        sonde_task_int(task, SONDE_USED, SONDE_NAME("i"), (int64_t)i);
        sonde_task_end(task);
        atomic_store_explicit(&me->board->ended[me->index], i + 1, memory_order_relaxed);
    }
    sonde_task_end(outer);
    return NULL;
}

/* Runs the load in this process. */
static inline void load_run(load_board *board, unsigned threads, uint64_t limit)
{
    pthread_t ids[LOAD_THREADS_MAX];
    load_thread args[LOAD_THREADS_MAX];
    for (unsigned i = 0; i < threads; i++) {
        args[i] = (load_thread){board, i, limit};
        pthread_create(&ids[i], NULL, load_main, &args[i]);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

typedef struct load_result {
    uint64_t stored; /* work tasks */
    uint64_t outer;  /* outer tasks, ended */
    uint64_t lost;
    uint64_t open_outer;
    uint64_t open_work;
    sonde_reader_stats stats;
} load_result;

/* Reads session name back. Every number of every thread is there exactly once: no number is missing
   below what had ended (unless it was counted as lost), none is there twice, and at most one more
   than had ended, which was under way. */
static inline load_result load_check(const char *dir, const char *name, const load_board *board,
                                     bool may_lose)
{
    load_result result = {0};
    sonde_reader *reader = read_in(dir, name);
    sonde_record r;
    uint64_t next[LOAD_THREADS_MAX] = {0};
    while (sonde_reader_next(reader, &r) == SONDE_OK) {
        if (r.kind == SONDE_RECORD_LOSS)
            result.lost += r.count;
        if (r.kind == SONDE_RECORD_OPEN)
            name_is(&r, "outer") ? result.open_outer++ : result.open_work++;
        result.outer += r.kind == SONDE_RECORD_TASK && name_is(&r, "outer");
        if (r.kind != SONDE_RECORD_TASK || !name_is(&r, "work"))
            continue;
        int64_t thread = int_attr(&r, "thread", -1);
        int64_t i = int_attr(&r, "i", -1);
        assert_in_range(thread, 0, LOAD_THREADS_MAX - 1);
        assert_true((uint64_t)i >= next[thread]); /* in order, so never twice */
        if (!may_lose)
            assert_int_equal(i, next[thread]);
        next[thread] = (uint64_t)i + 1;
        result.stored++;
    }
    if (board && !may_lose)
        for (unsigned t = 0; t < LOAD_THREADS_MAX; t++) {
            assert_true(next[t] >= atomic_load(&board->ended[t]));
            assert_true(next[t] <= atomic_load(&board->ended[t]) + 1);
        }
    sonde_reader_stats_get(reader, &result.stats);
    assert_int_equal(result.stats.missing, 0);
    sonde_reader_close(reader);
    return result;
}

static inline unsigned segments_left(void)
{
    unsigned count = 0;
    const char *shm = getenv("SONDE_SHM_DIR");
    DIR *dir = opendir(shm ? shm : "/dev/shm");
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        count += strncmp(entry->d_name, "sonde.", 6) == 0;
    if (dir)
        closedir(dir);
    return count;
}

/* Segments in a folder of our own, so that other tests do not see them. */
static inline void private_shm(char path[32])
{
    snprintf(path, 32, "/dev/shm/st%d", (int)getpid());
    mkdir(path, 0700);
    setenv("SONDE_SHM_DIR", path, 1);
}

#endif
