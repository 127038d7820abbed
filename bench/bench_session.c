/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: rows of the CSV log against formatting by hand and fprintf, analysis from the journal
   and from CSV beside awk and python3 doing one of its sums, `sonde run` against a bare wrapper,
   and what looking at 50 processes costs. */
#include "agent/family.h"
#include "analysis/analysis.h"
#include "base/number_format.h"
#include "bench.h"
#include "sonde/sonde.h"
#include "view/packet_csv.h"
#include "view/session_files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 4096, TASKS = 1000000, FEW_TASKS = 10 * ROWS, CHILDREN = 50, FLUSH_BYTES = 64 << 10 };

static char folder[] = "/tmp/sonde_bench_XXXXXX";
static char csv_path[128], journal_path[128];
static int null_fd;

/* --- rows --- */

static sonde__packet packets[8];

static void make_packets(void)
{
    static const char *const operations[] = {
        "embedding",        "attention_layernorm", "attention_qkv_proj", "router_logits",
        "expert_selection", "expert_ffn",          "final_layernorm",    "lm_head"};
    for (unsigned i = 0; i < 8; i++) {
        sonde__packet *packet = &packets[i];
        packet->operation = (sonde__text){operations[i], strlen(operations[i])};
        packet->device = (sonde__text){i % 3 ? "igpu" : "cpu", i % 3 ? 4 : 3};
        packet->layer = i * 3;
        packet->success = true;
        packet->id = 100000 + i;
        packet->end_ns = 1763318011250000000u + i * 1000003u;
        packet->duration_ns = 1234567 + i * 999;
        packet->memory_mb = 128.5;
        sonde__packet_name_worker(packet);
    }
}

static void run_rows(void *arg, unsigned calls)
{
    sonde__buf *buf = arg;
    while (calls-- > 0) {
        for (unsigned i = 0; i < ROWS; i++) {
            sonde__packet_csv_write(buf, &packets[i % 8]);
            if (buf->len >= FLUSH_BYTES) {
                bench_keep(buf->data);
                if (write(null_fd, buf->data, buf->len) < 0)
                    abort();
                buf->len = 0;
            }
        }
    }
}

static void run_fprintf(void *arg, unsigned calls)
{
    FILE *file = arg;
    while (calls-- > 0) {
        for (unsigned i = 0; i < ROWS; i++) {
            const sonde__packet *at = &packets[i % 8];
            fprintf(file, "%.6f,%.*s,%.*s,%.6f,%llu,%lld,%.*s,%s,%.2f,%s\n",
                    (double)at->end_ns / 1e9, (int)at->device.len, at->device.data,
                    (int)at->worker.len, at->worker.data, (double)at->duration_ns / 1e6,
                    (unsigned long long)at->id, (long long)at->layer, (int)at->operation.len,
                    at->operation.data, "True", at->memory_mb, "");
        }
    }
}

/* The floor: the same texts copied whole, numbers as integers. */
static void run_copy(void *arg, unsigned calls)
{
    char *out = arg;
    while (calls-- > 0) {
        for (unsigned i = 0; i < ROWS; i++) {
            const sonde__packet *at = &packets[i % 8];
            char *p = out;
            p += sonde__format_uint(at->end_ns, p);
            memcpy(p, at->worker.data, at->worker.len);
            p += at->worker.len;
            p += sonde__format_uint(at->duration_ns, p);
            p += sonde__format_uint(at->id, p);
            memcpy(p, at->operation.data, at->operation.len);
            p += at->operation.len;
            bench_keep(p);
        }
    }
}

static void bench_rows(void)
{
    static bench_case rows = {.name = "rows", .run = run_rows, .calls = 1};
    static bench_case print = {.name = "fprintf", .run = run_fprintf, .calls = 1};
    static bench_case copy = {.name = "copy", .run = run_copy, .calls = 1};
    static char room[4096];
    sonde__buf buf;
    sonde__buf_init(&buf, 1 << 20);
    rows.arg = &buf;
    print.arg = fopen("/dev/null", "w");
    copy.arg = room;
    bench_case *cases[] = {&rows, &print, &copy};
    bench_run(cases, 3, 101);
    bench_title("session: rows of the CSV log");
    bench_note("rows", ROWS / bench_median_ns(&rows) * 1e3, "million/s");
    bench_note("fprintf", ROWS / bench_median_ns(&print) * 1e3, "million/s");
    bench_check("session.csv_row.faster_than_fprintf", bench_ratio(&print, &rows));
    bench_check("session.csv_row.by_floor", bench_ratio(&rows, &copy));
    fclose(print.arg);
    sonde__buf_free(&buf);
}

/* --- recording with the log on --- */

/* A session of so many tasks, as fast as they can be recorded. Returns what the recording thread
   took, without close. */
static double record_session(const char *name, int journal_only, int tasks)
{
    sonde_session *session;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = folder;
    options.full_wait_ns = 2000000000u;
    options.journal_only = journal_only;
    if (sonde_open(name, &options, &session) != SONDE_OK)
        abort();
    snprintf(journal_path, sizeof journal_path, "%s", sonde_session_path(session));
    snprintf(csv_path, sizeof csv_path, "%s/%s.csv", folder, name);
    static sonde_name names[] = {SONDE_NAME_INIT("attention_qkv_proj"),
                                 SONDE_NAME_INIT("router_logits"), SONDE_NAME_INIT("expert_ffn")};
    uint64_t start = bench_now_ns();
    for (int i = 0; i < tasks; i++) {
        sonde_task task = sonde_task_begin(&names[i % 3]);
        sonde_task_layer(task, i % 32);
        sonde_task_end(task);
    }
    double took = (double)(bench_now_ns() - start);
    sonde_close(session);
    return took;
}

static void remove_session(void)
{
    char json_path[sizeof csv_path + 8];
    snprintf(json_path, sizeof json_path, "%.*s.json", (int)(strlen(csv_path) - 4), csv_path);
    unlink(journal_path);
    unlink(csv_path);
    unlink(json_path);
}

static void bench_recording(void)
{
    enum { ROUNDS = 15 };
    static bench_case with_log, without;
    for (unsigned i = 0; i < ROUNDS; i++) {
        without.ns[i] = record_session("without", 1, TASKS);
        remove_session();
        with_log.ns[i] = record_session("with", 0, TASKS);
        remove_session();
    }
    with_log.rounds = without.rounds = ROUNDS;
    bench_title("session: recording 1 million tasks, with and without the log beside the journal");
    bench_note("journal only", bench_median_ns(&without) / TASKS, "ns per task");
    bench_note("log and summary, too", bench_median_ns(&with_log) / TASKS, "ns per task");
    bench_check("session.csv_on.by_recorder", bench_ratio(&with_log, &without));
}

/* From the journal to the written log and summary: reading, counting, formatting, writing. */
static void run_files(void *arg, unsigned calls)
{
    (void)arg;
    while (calls-- > 0) {
        sonde__session_files *files;
        sonde__session_files_stats stats;
        if (sonde__session_files_open(journal_path, &files) != SONDE_OK)
            abort();
        sonde__session_files_close(files, &stats);
        if (stats.packets != FEW_TASKS)
            abort();
    }
}

static void remove_log(void)
{
    unlink(csv_path);
}

static void bench_files(void)
{
    static bench_case files = {.name = "files", .run = run_files, .calls = 1, .before = remove_log};
    static bench_case print = {.name = "fprintf", .run = run_fprintf, .calls = FEW_TASKS / ROWS};
    record_session("whole", 1, FEW_TASKS);
    print.arg = fopen("/dev/null", "w");
    bench_title("session: from the journal to the written log, beside fprintf to nowhere");
    bench_case *cases[] = {&files, &print};
    bench_run_judged(cases, 2, 301, bench_judge_core);
    for (unsigned i = 0; i < files.rounds; i++) { /* per row */
        files.ns[i] /= FEW_TASKS;
        print.ns[i] /= ROWS;
    }
    bench_note("rows written", 1e3 / bench_median_ns(&files), "million/s");
    bench_note("fprintf", 1e3 / bench_median_ns(&print), "million/s");
    bench_check("session.rows_written.faster_than_fprintf", bench_ratio(&print, &files));
    fclose(print.arg);
    remove_session();
}

/* --- analysis --- */

static void run_analysis(void *arg, unsigned calls)
{
    static sonde__analysis analysis;
    while (calls-- > 0) {
        if (sonde__analyze(arg, 5, &analysis) != SONDE_OK || analysis.tally.packets != TASKS)
            abort();
        sonde__analysis_free(&analysis);
    }
}

static void run_command(void *arg, unsigned calls)
{
    while (calls-- > 0)
        if (system(arg) != 0) /* NOLINT(cert-env33-c): a shell command is what is measured */
            abort();
}

static void bench_analysis(void)
{
    char awk[512], python[512];
    snprintf(awk, sizeof awk, "awk -F, 'NR>1 {sum[$7]+=$4} END {for (i in sum) n++; exit n!=3}' %s",
             csv_path);
    snprintf(python, sizeof python,
             "python3 -c 'import csv,collections\nsum=collections.Counter()\n"
             "for row in csv.DictReader(open(\"%s\")): "
             "sum[row[\"operation\"]]+=float(row[\"duration_ms\"])'",
             csv_path);
    static bench_case journal = {.name = "journal", .run = run_analysis, .calls = 1};
    static bench_case csv = {.name = "csv", .run = run_analysis, .calls = 1};
    static bench_case by_awk = {.name = "awk", .run = run_command, .calls = 1};
    static bench_case by_python = {.name = "python3", .run = run_command, .calls = 1};
    journal.arg = journal_path;
    csv.arg = csv_path;
    by_awk.arg = awk;
    by_python.arg = python;
    bench_case *cases[] = {&journal, &csv, &by_awk, &by_python};
    bench_run(cases, 4, 5);
    FILE *file = fopen(csv_path, "r");
    fseek(file, 0, SEEK_END);
    double megabytes = (double)ftell(file) / 1e6;
    fclose(file);
    bench_title("session: analysis of 1 million tasks, beside one sum by awk and python3");
    bench_note("from the journal", TASKS / bench_median_ns(&journal) * 1e3, "million tasks/s");
    bench_note("from CSV", megabytes / bench_median_ns(&csv) * 1e9, "MB/s");
    bench_note("awk, one sum", megabytes / bench_median_ns(&by_awk) * 1e9, "MB/s");
    bench_note("python3 csv, one sum", megabytes / bench_median_ns(&by_python) * 1e9, "MB/s");
    bench_check("session.analyze_csv.faster_than_awk", bench_ratio(&by_awk, &csv));
    bench_check("session.analyze_csv.faster_than_python", bench_ratio(&by_python, &csv));
    bench_check("session.analyze_journal.by_csv", bench_ratio(&journal, &csv));
}

/* --- running --- */

static void spawn(char *const *argv)
{
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    int status;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        abort();
}

/* fork, exec and wait twice: what any wrapper around a command does. */
static void run_wrapper(void *arg, unsigned calls)
{
    while (calls-- > 0)
        spawn(arg);
}

static void run_capture(void *arg, unsigned calls)
{
    (void)arg;
    while (calls-- > 0) {
        sonde_capture *capture;
        const sonde_telemetry *now;
        if (sonde_capture_open(NULL, &capture) != SONDE_OK ||
            sonde_capture_read(capture, &now) != SONDE_OK)
            abort();
        sonde_capture_close(capture);
    }
}

static void bench_running(const char *self)
{
    static char program[512], session[160];
    snprintf(program, sizeof program, "%.*s/sonde", (int)(strrchr(self, '/') - self), self);
    snprintf(session, sizeof session, "%s/runs", folder);
    char *wrapped[] = {(char *)(uintptr_t)self, (char *)(uintptr_t) "wrap", NULL};
    char *ours[] = {program,
                    (char *)(uintptr_t) "run",
                    (char *)(uintptr_t) "--quiet",
                    (char *)(uintptr_t) "--dir",
                    session,
                    (char *)(uintptr_t) "--",
                    (char *)(uintptr_t) "true",
                    NULL};
    static bench_case wrapper = {.name = "wrapper", .run = run_wrapper, .calls = 1};
    static bench_case run = {.name = "run", .run = run_wrapper, .calls = 1};
    static bench_case capture = {.name = "capture", .run = run_capture, .calls = 1};
    wrapper.arg = wrapped;
    run.arg = ours;
    bench_case *cases[] = {&wrapper, &run, &capture};
    bench_run(cases, 3, 61);
    static bench_case rest;
    rest = run;
    for (unsigned i = 0; i < rest.rounds; i++)
        rest.ns[i] -= capture.ns[i];
    bench_title("session: sonde run -- true, against a program that forks, executes and waits");
    bench_note("wrapper", bench_median_ns(&wrapper) / 1e6, "ms");
    bench_note("sonde run", bench_median_ns(&run) / 1e6, "ms");
    bench_note("one full capture", bench_median_ns(&capture) / 1e6, "ms");
    bench_check("session.run_less_capture.by_wrapper", bench_ratio(&rest, &wrapper));
}

static double thread_cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* CPU time, not time: the machine may have other things to do. */
static double look_ms(void)
{
    enum { LOOKS = 20 };
    sonde__family family;
    sonde__tree_walk walk;
    sonde__family_open(&walk);
    double start = thread_cpu_ms();
    for (int i = 0; i < LOOKS; i++) {
        sonde__family_look(&walk, &family);
        if (family.processes < CHILDREN)
            abort();
    }
    double took = thread_cpu_ms() - start;
    sonde__tree_walk_close(&walk);
    return took / LOOKS;
}

static void bench_sampling(void)
{
    static pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pause();
            _exit(0);
        }
    }
    double look = look_ms();
    for (int i = 0; i < CHILDREN; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    bench_title("session: a look at 50 processes, each second");
    bench_note("one look", look, "ms of CPU");
    bench_check("session.sampling.percent_of_a_core", look / 1e3 * 100);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "wrap") == 0) {
        char *command[] = {(char *)(uintptr_t) "true", NULL};
        spawn(command);
        return 0;
    }
    if (!mkdtemp(folder))
        return 1;
    null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    make_packets();
    bench_rows();
    bench_recording();
    bench_files();
    record_session("bench", 0, TASKS);
    bench_analysis();
    bench_running(argv[0]);
    bench_sampling();
    char clean[64];
    snprintf(clean, sizeof clean, "rm -rf %s", folder);
    if (system(clean) != 0) /* NOLINT(cert-env33-c) */
        return 1;
    return bench_finish();
}
