/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder against its floor: two TSC readings and a 64-byte record stored to an own ring. Each
   case begins when the drain has caught up and is looking for more, and uses less of the ring than
   it holds: what is measured is the thread's own cost with the drain at work beside it. A thread
   that does nothing but record waits for the drain: that is the throughput case. */
#include "bench.h"

#include "base/ticks.h"
#include "sonde/sonde.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 600, OFF_CALLS = 20000, FLOOR_RING = 1 << 18 };

static sonde_name task_name = SONDE_NAME_INIT("task");
static sonde_name key_a = SONDE_NAME_INIT("a");
static sonde_name key_b = SONDE_NAME_INIT("b");
static sonde_name key_text = SONDE_NAME_INIT("text");

static void run_floor(void *arg, unsigned calls)
{
    static _Alignas(64) uint64_t ring[FLOOR_RING / 8];
    static _Atomic uint64_t published;
    static uint64_t head;
    (void)arg;
    for (unsigned i = 0; i < calls; i++) {
        uint64_t start = sonde__ticks_now(true);
        bench_keep(&start);
        uint64_t end = sonde__ticks_now(true);
        uint64_t *record = &ring[head % (FLOOR_RING / 8)];
        uint64_t fields[8] = {start, end, i, 1, 2, 3, 4, 5};
        memcpy(record, fields, sizeof fields);
        head += 8;
        atomic_store_explicit(&published, head, memory_order_release);
    }
}

static void run_task(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++) {
        sonde_task task = sonde_task_begin(&task_name);
        sonde_task_end(task);
    }
}

static void run_attrs(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++) {
        sonde_task task = sonde_task_begin(&task_name);
        sonde_task_int(task, SONDE_USED, &key_a, i);
        sonde_task_int(task, SONDE_USED, &key_b, (int64_t)i * 3);
        sonde_task_string(task, SONDE_GENERATED, &key_text, "0123456789abcdef");
        sonde_task_end(task);
    }
}

static void run_off(void *arg, unsigned calls)
{
    (void)arg;
    sonde_set_enabled(0);
    for (unsigned i = 0; i < calls; i++) {
        sonde_task task = sonde_task_begin(&task_name);
        bench_keep((const void *)(uintptr_t)task);
        sonde_task_end(task);
    }
    sonde_set_enabled(1);
}

static void run_empty(void *arg, unsigned calls)
{
    (void)arg;
    sonde_set_enabled(0);
    for (unsigned i = 0; i < calls; i++)
        bench_keep((const void *)(uintptr_t)i);
    sonde_set_enabled(1);
}

/* --- room in the ring, two threads --- */

static sonde_session *recording;

/* The drain writes what there is, then looks for more for a while. */
static void give_room(void)
{
    sonde_flush(recording, 0, 1000000000u);
}

static struct {
    sem_t call;            /* the other thread comes */
    _Atomic unsigned here; /* and waits for the round to begin */
    _Atomic unsigned begun;
    _Atomic unsigned done;
    double loop_ns;          /* how fast its core was after the round */
    _Atomic unsigned judged; /* that is known */
    _Atomic bool stop;
} pair;

static cpu_set_t allowed; /* processors of this program */

/* The nth of them is this thread's. The drain is where it likes. */
static void stay_on(unsigned nth)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && nth-- == 0)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void *other_thread(void *arg)
{
    (void)arg;
    stay_on(1);
    for (unsigned round = 1;; round++) {
        while (sem_wait(&pair.call) != 0)
            ;
        if (atomic_load(&pair.stop))
            return NULL;
        atomic_store(&pair.here, round);
        while (atomic_load_explicit(&pair.begun, memory_order_acquire) != round)
            sonde__relax();
        run_task(NULL, CALLS);
        atomic_store_explicit(&pair.done, round, memory_order_release);
        pair.loop_ns = bench_idle_loop_ns();
        atomic_store(&pair.judged, round);
    }
}

static unsigned two_round;

static void call_other(void)
{
    give_room();
    two_round++;
    sem_post(&pair.call);
    while (atomic_load(&pair.here) != two_round)
        sonde__relax();
}

static void run_two(void *arg, unsigned calls)
{
    (void)arg;
    atomic_store_explicit(&pair.begun, two_round, memory_order_release);
    run_task(NULL, calls);
    while (atomic_load_explicit(&pair.done, memory_order_acquire) != two_round)
        sonde__relax();
}

static bench_verdict judge_cores(void)
{
    while (atomic_load(&pair.judged) != two_round)
        sonde__relax();
    double mine = bench_idle_loop_ns();
    return mine < pair.loop_ns ? bench_judge(mine, pair.loop_ns) : bench_judge(pair.loop_ns, mine);
}

/* --- whole sessions --- */

static char folder[64];

static sonde_session *open_session(void)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = folder;
    options.journal_only = 1; /* the log's own thread is measured with sessions */
    sonde_session *session = NULL;
    if (sonde_open("bench", &options, &session) != SONDE_OK) {
        fprintf(stderr, "bench_record: cannot open a session in %s\n", folder);
        exit(1);
    }
    return session;
}

static void empty_folder(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (dir)
        closedir(dir);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* LTTng-UST on the same machine: an event of two integers. A task is begin and end, so two of them.
 */
static void measure_peer(double task_ns)
{
#ifdef SONDE_LTTNG_PEER
    char line[300] = "";
    FILE *out = popen(SONDE_BENCH_DIR "/lttng_peer.sh " SONDE_LTTNG_PEER, "r");
    bool read = out && fgets(line, sizeof line, out);
    int status = out ? pclose(out) : -1;
    line[strcspn(line, "\n")] = '\0';
    double event_ns = strtod(line, NULL);
    if (!read || status != 0 || event_ns <= 0) {
        bench_skip("record.task.by_lttng_events", line[0] ? line : "it could not be started");
        return;
    }
    bench_note("LTTng-UST event, two integers", event_ns, "ns");
    bench_check("record.task.by_lttng_events", task_ns / (2 * event_ns));
#else
    (void)task_ns;
    bench_skip("record.task.by_lttng_events", "liblttng-ust-dev is not installed");
#endif
}

static void measure_path(void)
{
    static bench_case
        floor = {.name = "floor", .run = run_floor, .calls = CALLS},
        task = {.name = "task", .run = run_task, .before = give_room, .calls = CALLS},
        attrs = {.name = "attributes", .run = run_attrs, .before = give_room, .calls = CALLS},
        two = {.name = "two threads", .run = run_two, .before = call_other, .calls = CALLS},
        off = {.name = "off", .run = run_off, .calls = OFF_CALLS},
        empty = {.name = "empty loop", .run = run_empty, .calls = OFF_CALLS};
    recording = open_session();
    pthread_t thread;
    sem_init(&pair.call, 0, 0);
    sched_getaffinity(0, sizeof allowed, &allowed);
    pthread_create(&thread, NULL, other_thread, NULL);
    stay_on(0);
    bench_case *cases[] = {&floor, &task, &attrs, &two, &off, &empty};
    bench_run_judged(cases, 6, 301, judge_cores);
    atomic_store(&pair.stop, true);
    sem_post(&pair.call);
    pthread_join(thread, NULL);
    sched_setaffinity(0, sizeof allowed, &allowed);
    sonde_close(recording);
    bench_note("floor: 2 TSC readings, 64-byte record", bench_median_ns(&floor), "ns");
    bench_note("task begin + end", bench_median_ns(&task), "ns");
    bench_note("with two integers and 16 bytes of text", bench_median_ns(&attrs), "ns");
    bench_check("record.task.by_floor", bench_ratio(&task, &floor));
    bench_check("record.attrs.by_floor", bench_ratio(&attrs, &floor));
    bench_check("record.two_threads.by_one", bench_ratio(&two, &task));
    bench_check("record.off.ns", bench_median_ns(&off) - bench_median_ns(&empty));
    measure_peer(bench_median_ns(&task));
    empty_folder();
}

static void measure_throughput(void)
{
    sonde_session *session = open_session();
    uint64_t start = bench_now_ns();
    uint64_t sent = 0;
    while (bench_now_ns() - start < 3000000000u) {
        run_task(NULL, 1000);
        sent += 1000;
    }
    sonde_flush(session, 0, 5000000000u);
    double seconds = (double)(bench_now_ns() - start) / 1e9;
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    sonde_close(session);
    empty_folder();
    bench_check("record.throughput.million_per_s", (double)sent / seconds / 1e6);
    bench_check("record.throughput.lost", (double)stats.lost);
    bench_check("record.throughput.unaccounted", (double)sent - (double)stats.written);
    bench_check("record.bytes_per_task", (double)stats.journal_bytes / (double)sent);
}

static void measure_sessions(void)
{
    enum { TIMES = 41 };
    double ms[TIMES];
    for (int i = 0; i < TIMES; i++) {
        uint64_t start = bench_now_ns();
        sonde_session *session = open_session();
        sonde_close(session);
        ms[i] = (double)(bench_now_ns() - start) / 1e6;
    }
    qsort(ms, TIMES, sizeof *ms, compare);
    bench_check("record.open_close.ms", ms[TIMES / 2]);
    empty_folder();
}

/* Voluntary context switches of all threads of this process. */
static uint64_t wake_ups(void)
{
    uint64_t sum = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char path[300];
        char line[200];
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = entry->d_name[0] != '.' ? fopen(path, "r") : NULL;
        while (file && fgets(line, sizeof line, file))
            if (strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
                sum += strtoull(line + 24, NULL, 10);
        if (file)
            fclose(file);
    }
    if (dir)
        closedir(dir);
    return sum;
}

static void measure_idle(void)
{
    sonde_session *session = open_session();
    uint64_t before = wake_ups();
    nanosleep(&(struct timespec){2, 0}, NULL);
    bench_check("record.idle.wake_ups_per_s", (double)(wake_ups() - before) / 2);
    sonde_close(session);
    empty_folder();
}

int main(void)
{
    strcpy(folder, "/dev/shm/sonde-bench-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    bench_title("record: one task, its own thread");
    measure_path();
    bench_title("record: one thread and the drain, 3 s into tmpfs; sessions");
    measure_throughput();
    measure_sessions();
    measure_idle();
    rmdir(folder);
    return bench_finish();
}
