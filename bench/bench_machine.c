/* SPDX-License-Identifier: Apache-2.0 */
/* What is read beyond Flowcept's telemetry: machine info against py-cpuinfo, GPUs against the bare
   calls of the library (a stand-in whose calls take 2 us each, found by this program's run path), a
   tree of 200 processes against reading their files. */
#include "bench.h"
#include "sonde/sonde.h"

#include "../tests/standin/standin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALL_NS = 2000, GPUS = 8, PROCESSES = 200, MILLISECONDS = 1000000 };

static void run_capture(void *arg, unsigned calls)
{
    const sonde_telemetry *now;
    while (calls-- > 0)
        if (sonde_capture_read(arg, &now) != SONDE_OK)
            abort();
}

static sonde_capture *open_type(unsigned type, int pid)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = type;
    options.pid = pid;
    sonde_capture *capture;
    if (sonde_capture_open(&options, &capture) != SONDE_OK)
        exit(1);
    return capture;
}

static void run_machine(void *arg, unsigned calls)
{
    (void)arg;
    while (calls-- > 0) {
        char *text;
        size_t len;
        if (sonde_machine_json(NULL, &text, &len) != SONDE_OK)
            abort();
        free(text);
    }
}

/* What py-cpuinfo takes, by its own clock; 0 when it is not installed. */
static double time_cpuinfo(void)
{
    FILE *python = popen("/usr/bin/python3 -c 'import time, cpuinfo; t = time.perf_counter_ns(); "
                         "cpuinfo.get_cpu_info(); print(time.perf_counter_ns() - t)' 2>/dev/null",
                         "r");
    double ns = 0;
    if (!python || fscanf(python, "%lf", &ns) != 1)
        ns = 0;
    if (python)
        pclose(python);
    return ns;
}

static void measure_machine(void)
{
    static bench_case machine = {.name = "machine info", .run = run_machine, .calls = 1};
    bench_case *only = &machine;
    bench_title("machine info");
    bench_run(&only, 1, 51);
    double ours = bench_median_ns(&machine), theirs = time_cpuinfo();
    bench_note("machine info", ours / MILLISECONDS, "ms");
    bench_check("machine.milliseconds", ours / MILLISECONDS);
    if (theirs > 0)
        bench_check("machine.faster_than_cpuinfo", theirs / ours);
    else
        bench_note("py-cpuinfo is not installed", 0, "");
}

typedef struct gpu_calls {
    int (*by_index)(unsigned, void **);
    int (*memory)(void *, unsigned long long *);
    int (*temperature)(void *, int, unsigned *);
    int (*power)(void *, unsigned *);
    int (*utilization)(void *, unsigned *);
    int (*clock)(void *, int, unsigned *);
    int (*energy)(void *, unsigned long long *);
    int (*processes)(void *, unsigned *, void *);
    void *device[GPUS];
} gpu_calls;

static void run_gpu_calls(void *arg, unsigned calls)
{
    const gpu_calls *library = arg;
    unsigned long long memory[3], energy, processes[64 * 3];
    unsigned value, utilization[2], count;
    for (; calls > 0; calls--) {
        for (unsigned i = 0; i < GPUS; i++) {
            library->memory(library->device[i], memory);
            library->temperature(library->device[i], 0, &value);
            library->power(library->device[i], &value);
            library->energy(library->device[i], &energy);
            library->utilization(library->device[i], utilization);
            library->clock(library->device[i], 0, &value);
            library->clock(library->device[i], 2, &value);
            count = 64;
            library->processes(library->device[i], &count, processes);
            bench_keep(processes);
        }
    }
}

static void find(void *library, const char *name, void *slot)
{
    void *address = dlsym(library, name);
    if (!address)
        exit(1);
    memcpy(slot, &address, sizeof address);
}

static void measure_gpu(void)
{
    static bench_case ours = {.name = "eight GPUs", .run = run_capture, .calls = 4},
                      bare = {.name = "the calls alone", .run = run_gpu_calls, .calls = 4};
    static gpu_calls calls;
    standin_steer_function *nvml, *amd;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    void *other = dlopen("libamd_smi.so", RTLD_NOW);
    if (!library || !other)
        exit(1);
    find(library, "standin_nvml_steer", &nvml);
    find(other, "standin_amdsmi_steer", &amd);
    amd(STANDIN_DEVICES, 0);
    nvml(STANDIN_DEVICES, GPUS);
    ours.arg = open_type(SONDE_CAPTURE_GPU, 0);
    bare.arg = &calls;
    find(library, "nvmlDeviceGetHandleByIndex_v2", &calls.by_index);
    find(library, "nvmlDeviceGetMemoryInfo", &calls.memory);
    find(library, "nvmlDeviceGetTemperature", &calls.temperature);
    find(library, "nvmlDeviceGetPowerUsage", &calls.power);
    find(library, "nvmlDeviceGetUtilizationRates", &calls.utilization);
    find(library, "nvmlDeviceGetClockInfo", &calls.clock);
    find(library, "nvmlDeviceGetTotalEnergyConsumption", &calls.energy);
    find(library, "nvmlDeviceGetComputeRunningProcesses_v3", &calls.processes);
    for (unsigned i = 0; i < GPUS; i++)
        calls.by_index(i, &calls.device[i]);
    nvml(STANDIN_SPIN_NS, CALL_NS);
    bench_case *cases[] = {&ours, &bare};
    bench_title("GPUs: all metrics of eight devices against the calls of the library alone");
    bench_run(cases, 2, 101);
    bench_note(ours.name, bench_median_ns(&ours) / 1e3, "us");
    bench_check("gpu.by_calls", bench_ratio(&ours, &bare));
    sonde_capture_close(ours.arg);
}

static pid_t tree[PROCESSES];

static void read_once(pid_t pid, const char *name)
{
    static char text[65536];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text) < 0)
        exit(1);
    close(fd);
    bench_keep(text);
}

static void run_tree_files(void *arg, unsigned calls)
{
    (void)arg;
    for (; calls > 0; calls--) {
        for (unsigned i = 0; i < PROCESSES; i++) {
            char children[48];
            snprintf(children, sizeof children, "task/%d/children", (int)tree[i]);
            read_once(tree[i], "stat");
            read_once(tree[i], children);
            read_once(tree[i], "statm");
            read_once(tree[i], "smaps_rollup");
            read_once(tree[i], "io");
        }
    }
}

/* A root with children that do nothing. The first of the list is the root. */
static void grow_tree(void)
{
    int started[2];
    if (pipe(started) != 0)
        exit(1);
    tree[0] = fork();
    if (tree[0] == 0) {
        for (unsigned i = 1; i < PROCESSES; i++) {
            pid_t child = fork();
            if (child == 0)
                pause();
            if (write(started[1], &child, sizeof child) != sizeof child)
                _exit(1);
        }
        pause();
    }
    for (unsigned i = 1; i < PROCESSES; i++)
        if (read(started[0], &tree[i], sizeof tree[i]) != sizeof tree[i])
            exit(1);
    close(started[0]);
    close(started[1]);
}

static void measure_tree(void)
{
    static bench_case ours = {.name = "a tree of 200 processes", .run = run_capture, .calls = 1},
                      files = {.name = "their files", .run = run_tree_files, .calls = 1};
    grow_tree();
    ours.arg = open_type(SONDE_CAPTURE_TREE, (int)tree[0]);
    bench_case *cases[] = {&ours, &files};
    bench_title("tree: 200 processes against reading their files");
    bench_run(cases, 2, 101);
    bench_note(ours.name, bench_median_ns(&ours) / 1e3, "us");
    bench_check("tree.by_files", bench_ratio(&ours, &files));
    sonde_capture_close(ours.arg);
    for (unsigned i = PROCESSES; i-- > 0;)
        kill(tree[i], SIGKILL);
    waitpid(tree[0], NULL, 0);
}

/* What the small types cost, for orientation. */
static void measure_small(void)
{
    static const struct {
        const char *name;
        unsigned type;
    } types[] = {{"cgroup", SONDE_CAPTURE_CGROUP},
                 {"pressure", SONDE_CAPTURE_PRESSURE},
                 {"load", SONDE_CAPTURE_LOAD}};
    static bench_case one = {.run = run_capture, .calls = 20};
    bench_title("small types, one reading each");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bench_case *only = &one;
        one.arg = open_type(types[i].type, 0);
        bench_run(&only, 1, 51);
        bench_note(types[i].name, bench_median_ns(&one) / 1e3, "us");
        sonde_capture_close(one.arg);
    }
}

int main(void)
{
    measure_machine();
    measure_gpu();
    measure_tree();
    measure_small();
    return bench_finish();
}
