/* SPDX-License-Identifier: Apache-2.0 */
/* Capture against its floors and against psutil, which runs as a second process and takes its turns
   in the same rounds. */
#include "bench.h"
#include "capture_floor.h"
#include "sonde/capture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 201, EXTRA_DESCRIPTORS = 1000 };

static sonde_capture *open_capture(sonde_level level, unsigned types)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.level = level;
    options.types = types;
    sonde_capture *capture;
    if (sonde_capture_open(&options, &capture) != SONDE_OK)
        exit(1);
    return capture;
}

static void run_capture(void *arg, unsigned calls)
{
    const sonde_telemetry *now;
    while (calls-- > 0)
        if (sonde_capture_read(arg, &now) != SONDE_OK)
            abort();
}

static void run_capture_json(void *arg, unsigned calls)
{
    const char *text;
    size_t len;
    while (calls-- > 0) {
        run_capture(arg, 1);
        sonde_capture_json(arg, &text, &len);
    }
}

/* The psutil process: what it measures of itself stands in for the time we would measure around it.
 */
typedef struct peer {
    FILE *to;
    FILE *from;
    double sum_ns;
} peer;

static int peer_start(peer *psutil)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return 0;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execl("/usr/bin/python3", "python3", SONDE_BENCH_DIR "/psutil_capture.py", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    psutil->to = fdopen(in[1], "w");
    psutil->from = fdopen(out[0], "r");
    return pid > 0;
}

static double peer_ask(peer *psutil, const char *line)
{
    long ns = -1;
    fprintf(psutil->to, "%s\n", line);
    fflush(psutil->to);
    if (fscanf(psutil->from, "%ld", &ns) != 1) {
        fprintf(stderr, "psutil does not answer: is python3-psutil installed?\n");
        exit(1);
    }
    return (double)ns;
}

/* Median over rounds of psutil's time by ours. */
static double against_psutil(peer *psutil, sonde_capture *capture, unsigned rounds)
{
    static bench_case ours = {.name = "full", .run = run_capture, .calls = 20};
    static bench_case theirs;
    ours.arg = capture;
    ours.rounds = theirs.rounds = rounds;
    bench_case *only = &ours;
    double keep[BENCH_ROUNDS_MAX];
    peer_ask(psutil, "3");
    for (unsigned round = 0; round < rounds; round++) {
        bench_run(&only, 1, 1);
        keep[round] = ours.ns[0];
        theirs.ns[round] = peer_ask(psutil, "3");
    }
    memcpy(ours.ns, keep, rounds * sizeof *keep);
    ours.rounds = rounds;
    bench_note("psutil, one reading", bench_median_ns(&theirs) / 1e3, "us");
    return bench_ratio(&theirs, &ours);
}

static void measure_levels(capture_floor *floor)
{
    static bench_case full = {.name = "full", .run = run_capture, .calls = 20},
                      full_floor = {.name = "full floor", .run = capture_floor_full, .calls = 20},
                      regular = {.name = "regular", .run = run_capture, .calls = 40},
                      regular_floor = {.name = "regular floor",
                                       .run = capture_floor_regular,
                                       .calls = 40},
                      light = {.name = "light", .run = run_capture, .calls = 200},
                      light_floor = {.name = "light floor",
                                     .run = capture_floor_light,
                                     .calls = 200},
                      json = {.name = "full and JSON", .run = run_capture_json, .calls = 20};
    full.arg = json.arg = open_capture(SONDE_LEVEL_FULL, SONDE_CAPTURE_STANDARD);
    regular.arg = open_capture(SONDE_LEVEL_REGULAR, SONDE_CAPTURE_STANDARD);
    light.arg = open_capture(SONDE_LEVEL_LIGHT, SONDE_CAPTURE_STANDARD);
    full_floor.arg = regular_floor.arg = light_floor.arg = floor;
    bench_case *cases[] = {&full,  &full_floor,  &regular, &regular_floor,
                           &light, &light_floor, &json};
    bench_title("capture: one reading against the same kernel interfaces, read and not parsed");
    bench_run(cases, sizeof cases / sizeof *cases, ROUNDS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bench_note(cases[i]->name, bench_median_ns(cases[i]) / 1e3, "us");
    bench_check("capture.full.by_floor", bench_ratio(&full, &full_floor));
    bench_check("capture.regular.by_floor", bench_ratio(&regular, &regular_floor));
    bench_check("capture.regular.by_full", bench_ratio(&regular, &full));
    bench_check("capture.light.by_floor", bench_ratio(&light, &light_floor));
    sonde_capture_close(full.arg);
    sonde_capture_close(regular.arg);
    sonde_capture_close(light.arg);
}

static void measure_psutil(void)
{
    peer psutil;
    if (!peer_start(&psutil))
        exit(1);
    sonde_capture *capture = open_capture(SONDE_LEVEL_FULL, SONDE_CAPTURE_STANDARD);
    bench_title("capture: a full reading against psutil");
    bench_check("capture.full.faster_than_psutil", against_psutil(&psutil, capture, 41));
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0)
        exit(1);
    peer_ask(&psutil, "socket");
    bench_title("capture: the same while the process holds a TCP socket");
    bench_check("capture.socket.faster_than_psutil", against_psutil(&psutil, capture, 21));
    close(listener);
    sonde_capture_close(capture);
    fclose(psutil.to);
    fclose(psutil.from);
    wait(NULL);
}

/* What one descriptor more costs, from the difference that a thousand of them make. */
static void measure_descriptors(capture_floor *floor)
{
    static bench_case few = {.name = "process", .run = run_capture, .calls = 20},
                      few_floor = {.run = capture_floor_descriptors, .calls = 20},
                      many = {.name = "process", .run = run_capture, .calls = 2},
                      many_floor = {.run = capture_floor_descriptors, .calls = 2};
    few.arg = many.arg = open_capture(SONDE_LEVEL_FULL, SONDE_CAPTURE_PROCESS);
    few_floor.arg = many_floor.arg = floor;
    bench_case *before[] = {&few, &few_floor}, *after[] = {&many, &many_floor};
    bench_run(before, 2, 101);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int extra[EXTRA_DESCRIPTORS];
    for (int i = 0; i < EXTRA_DESCRIPTORS; i++)
        extra[i] = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    bench_run(after, 2, 101);
    for (int i = 0; i < EXTRA_DESCRIPTORS; i++)
        close(extra[i]);
    double ours = (bench_median_ns(&many) - bench_median_ns(&few)) / EXTRA_DESCRIPTORS;
    double bare = (bench_median_ns(&many_floor) - bench_median_ns(&few_floor)) / EXTRA_DESCRIPTORS;
    bench_title("capture: each further descriptor, at 1000 of them, against getdents and fstat");
    bench_note("one descriptor", ours, "ns");
    bench_check("capture.per_descriptor.by_floor", ours / bare);
    sonde_capture_close(few.arg);
}

int main(void)
{
    measure_psutil();
    capture_floor floor;
    capture_floor_open(&floor);
    measure_levels(&floor);
    measure_descriptors(&floor);
    return bench_finish();
}
