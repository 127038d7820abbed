/* SPDX-License-Identifier: Apache-2.0 */
/* What measuring costs: tasks with readings against their parts, memory, the sampler. */
#include "bench.h"
#include "sonde/sonde.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CALLS = 200, ROUNDS = 101, THREADS = 8, HISTOGRAMS = 50 };

static char dir[] = "/tmp/sonde-bench-XXXXXX";

static sonde_session *open_session(uint64_t sample_interval_ns)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.sample_interval_ns = sample_interval_ns;
    options.overhead_limit = 0;
    sonde_session *session = NULL;
    if (sonde_open("bench", &options, &session) != SONDE_OK)
        exit(1);
    return session;
}

static void close_session(sonde_session *session)
{
    char path[256];
    snprintf(path, sizeof path, "%s", sonde_session_path(session));
    sonde_close(session);
    unlink(path);
}

static void plain_task(void *arg, unsigned calls)
{
    (void)arg;
    for (unsigned i = 0; i < calls; i++)
        sonde_task_end(sonde_task_begin(SONDE_NAME("plain")));
}

static void light_capture(void *arg, unsigned calls)
{
    const sonde_telemetry *now;
    for (unsigned i = 0; i < calls; i++)
        sonde_capture_read(arg, &now);
}

static void measured_task(void *arg, unsigned calls)
{
    sonde_measure measure = *(const sonde_measure *)arg;
    for (unsigned i = 0; i < calls; i++) {
        sonde_task task = sonde_task_begin_measured(SONDE_NAME("measured"), measure);
        sonde_task_end_measured(task, SONDE_FINISHED, NULL, measure);
    }
}

static void bench_tasks(void)
{
    bench_title("a task with light telemetry at both ends, against two light captures and a task");
    sonde_session *session = open_session(1000000000u);
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.level = SONDE_LEVEL_LIGHT;
    sonde_capture *capture = NULL;
    if (sonde_capture_open(&options, &capture) != SONDE_OK)
        exit(1);
    static sonde_measure light = SONDE_MEASURE_LIGHT;
    static sonde_measure full = SONDE_MEASURE_FULL;
    static bench_case plain = {.name = "task", .run = plain_task, .calls = CALLS};
    static bench_case reading = {.name = "capture", .run = light_capture, .calls = CALLS};
    static bench_case measured = {
        .name = "light", .run = measured_task, .arg = &light, .calls = CALLS};
    static bench_case most = {
        .name = "full", .run = measured_task, .arg = &full, .calls = CALLS / 10};
    reading.arg = capture;
    bench_case *cases[] = {&plain, &reading, &measured, &most};
    bench_run(cases, 4, ROUNDS);
    static bench_case parts;
    parts = plain;
    for (unsigned i = 0; i < parts.rounds; i++)
        parts.ns[i] = plain.ns[i] + 2 * reading.ns[i];
    bench_note("plain task", bench_median_ns(&plain), "ns");
    bench_note("light capture", bench_median_ns(&reading), "ns");
    bench_note("task, light at both ends", bench_median_ns(&measured), "ns");
    bench_note("task, full at both ends", bench_median_ns(&most), "ns");
    bench_check("telemetry.light_task.by_parts", bench_ratio(&measured, &parts));
    sonde_capture_close(capture);
    close_session(session);
}

/* --- memory --- */

static sonde_histogram *histograms[HISTOGRAMS];
static pthread_barrier_t filled, measured_now;

static void *use_all(void *arg)
{
    for (int i = 0; i < 100; i++)
        sonde_task_end(sonde_task_begin(SONDE_NAME("memory")));
    for (int h = 0; h < HISTOGRAMS; h++)
        for (int i = 0; i < 512; i++)
            sonde_histogram_observe(histograms[h], exp2(i / 64.0)); /* eight octaves */
    pthread_barrier_wait(&filled);
    pthread_barrier_wait(&measured_now);
    return arg;
}

static double resident_mib(void)
{
    unsigned long size = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &size, &resident) != 2)
        exit(1);
    fclose(file);
    return (double)resident * 4096 / 1048576;
}

static void *wait_only(void *arg)
{
    pthread_barrier_wait(&filled);
    pthread_barrier_wait(&measured_now);
    return arg;
}

/* Resident memory with 8 threads that run main. */
static double with_threads(void *(*run)(void *))
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&filled, NULL, THREADS + 1);
    pthread_barrier_init(&measured_now, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    pthread_barrier_wait(&filled);
    double now = resident_mib();
    pthread_barrier_wait(&measured_now);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return now;
}

static void bench_memory(void)
{
    bench_title("memory: 8 threads, each with tasks and 50 histograms of 8 octaves");
    double before = with_threads(wait_only);
    sonde_session *session = open_session(1000000000u);
    for (int h = 0; h < HISTOGRAMS; h++) {
        char n[16];
        snprintf(n, sizeof n, "%d", h);
        histograms[h] = sonde_histogram_get("bench_memory", NULL, SONDE_LABELS("n", n));
    }
    bench_check("telemetry.memory.mib", with_threads(use_all) - before);
    close_session(session);
}

/* --- the sampler --- */

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double cpu_of_a_second(uint64_t sample_interval_ns)
{
    sonde_session *session = open_session(sample_interval_ns);
    usleep(100000);
    double before = cpu_seconds();
    usleep(1000000);
    double used = cpu_seconds() - before;
    close_session(session);
    return used;
}

static void bench_sampler(void)
{
    bench_title("the sampler at one sample a second: 1000 a second, by a thousand");
    double off = cpu_of_a_second(0);
    double on = cpu_of_a_second(1000000);
    bench_note("idle session without sampler", off * 100, "% of a core");
    bench_check("telemetry.sampler.percent_of_core", (on > off ? on - off : 0) / 1000 * 100);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    bench_memory(); /* first: nothing is resident yet */
    bench_tasks();
    bench_sampler();
    char command[sizeof dir + 16];
    snprintf(command, sizeof command, "rm -r %s", dir); /* with the logs of its sessions */
    return system(command) == 0 ? bench_finish() : 1;
}
