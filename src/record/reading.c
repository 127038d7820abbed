/* SPDX-License-Identifier: Apache-2.0 */
/* Taking readings. Handles keep kernel files open, so there is one for each level and not one for
   each thread; whoever waited for the lock shares the reading that was taken meanwhile. What
   readings cost is added up, and above the limit less is read from then on: full, regular, light,
   nothing. */
#include "record/reading.h"

#include "base/clock.h"
#include "capture/telemetry_codec.h"
#include "record/metric_registry.h"
#include "record/recorder.h"
#include "record/task_impl.h"

#include <pthread.h>
#include <string.h>

enum { LEVELS = SONDE_MEASURE_FULL + 1 };
#define JUDGE_NS 1000000000u /* the cost is judged over at least a second */

_Atomic uint32_t sonde__measuring;

typedef struct shared_reading {
    sonde_capture *handle;
    unsigned types; /* that the handle reads */
    uint64_t run;
    uint64_t begun_ns;
    uint64_t ticks; /* the time of its record */
    sonde__reading reading;
} shared_reading;

static struct {
    pthread_mutex_t lock;
    shared_reading level[LEVELS];
    sonde_capture *sampler; /* of the library's thread */
    /* set when a session begins, without the lock: that is held while a lane is claimed */
    _Atomic unsigned types;
    _Atomic uint64_t max_age_ns;
    _Atomic double limit;
    _Atomic uint64_t thread_cpu_ns;
    /* behind the lock */
    uint64_t run;       /* that the rest is about */
    sonde_measure most; /* nothing above this is read any more */
    uint64_t cost_ns;   /* of all readings */
    uint64_t judged_ns; /* when, and what it had cost then */
    uint64_t judged_cost_ns;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .most = SONDE_MEASURE_FULL};

sonde_measure sonde__measure_start(void)
{
    return (sonde_measure)(atomic_load_explicit(&sonde__measuring, memory_order_relaxed) & 0xff);
}

sonde_measure sonde__measure_end(void)
{
    return (sonde_measure)(atomic_load_explicit(&sonde__measuring, memory_order_relaxed) >> 8);
}

static sonde_capture *open_handle(unsigned types, sonde_level level)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = types | SONDE_CAPTURE_PROCESS;
    options.level = level;
    sonde_capture *handle = NULL;
    return sonde_capture_open(&options, &handle) == SONDE_OK ? handle : NULL;
}

/* --- the cost --- */

static sonde_gauge *cost_gauge(void)
{
    static _Atomic(sonde_gauge *) gauge;
    sonde_gauge *known = atomic_load(&gauge);
    if (!known) {
        known = sonde_gauge_get("sonde_overhead_readings_seconds",
                                "Time that readings at the edges of tasks took", NULL);
        atomic_store(&gauge, known);
    }
    return known;
}

void sonde__reading_note_cpu(uint64_t thread_cpu_ns)
{
    static sonde_gauge *gauge;
    uint64_t before = atomic_exchange(&state.thread_cpu_ns, thread_cpu_ns);
    if (!gauge)
        gauge = sonde_gauge_get("sonde_overhead_thread_cpu_seconds",
                                "CPU time of the library's own thread", NULL);
    if (thread_cpu_ns > before)
        sonde_gauge_add(gauge, (double)(thread_cpu_ns - before) / 1e9);
}

static void tell_change(sonde_measure from, sonde_measure to, double share)
{
    static const char *const names[] = {"off", "light", "regular", "full"};
    sonde_attr attrs[] = {
        {SONDE_METADATA,
         SONDE_ATTR_STRING,
         "from",
         4,
         {.s = {names[from], strlen(names[from]), 0}}},
        {SONDE_METADATA, SONDE_ATTR_STRING, "to", 2, {.s = {names[to], strlen(names[to]), 0}}},
        {SONDE_METADATA, SONDE_ATTR_DOUBLE, "share_of_core", 13, {.d = share}},
    };
    sonde_task_info info = {
        .activity = SONDE_NAME("sonde.overhead_limit"),
        .start_wall_ns = sonde__clock_wall_ns(),
        .status = SONDE_FINISHED,
        .attrs = attrs,
        .attr_count = sizeof attrs / sizeof *attrs,
    };
    sonde_task_record(&info);
}

/* With the lock. True: *share is above the limit, and less is read from now on. */
static bool judge(uint64_t now_ns, double *share)
{
    uint64_t cost = state.cost_ns + atomic_load(&state.thread_cpu_ns);
    uint64_t elapsed = now_ns - state.judged_ns;
    double limit = atomic_load(&state.limit);
    if (limit <= 0 || state.most == SONDE_MEASURE_OFF || elapsed < JUDGE_NS)
        return false;
    *share = (double)(cost - state.judged_cost_ns) / (double)elapsed;
    state.judged_ns = now_ns;
    state.judged_cost_ns = cost;
    if (*share <= limit)
        return false;
    state.most--;
    return true;
}

/* --- readings --- */

/* The record of a reading into this thread's lane. 0: it could not be kept. */
static uint64_t write_record(const sonde_telemetry *telemetry, uint64_t end_ticks, uint64_t *ticks)
{
    enum { ROOM = SONDE__RECORD_BYTES_MAX - sizeof(sonde__ring_record) - 64 };
    static uint8_t encoded[ROOM]; /* behind state.lock */
    uint64_t cut = 0;
    size_t len = sonde__telemetry_encode(telemetry, encoded, ROOM, &cut);
    sonde__lane_local *lane = sonde__lane_enter(true);
    if (!lane)
        return 0;
    uint32_t attr_bytes = (uint32_t)(sizeof(sonde__ring_attr) + ((len + 7) & ~(size_t)7));
    uint32_t bytes = (uint32_t)sizeof(sonde__ring_record) + attr_bytes;
    sonde__ring_record *record = sonde__ring_reserve(lane, bytes);
    uint64_t id = 0;
    if (record) {
        uint64_t now = end_ticks ? end_ticks : sonde__ticks_now(lane->tsc);
        *ticks = now;
        id = (uint64_t)lane->index << 48 | lane->seq;
        *record = (sonde__ring_record){
            .seq = (uint32_t)lane->seq,
            .words = (uint16_t)(bytes / 8),
            .kind = SONDE__KIND_TELEMETRY,
            .start = now,
            .end = now,
            .attr_bytes = attr_bytes,
            .number = ++lane->number,
        };
        sonde__ring_attr attr = {SONDE__SYS_TELEMETRY, SONDE_ATTR_BYTES, SONDE__GROUP_SYSTEM,
                                 (uint16_t)len};
        uint8_t *out = (uint8_t *)(record + 1);
        memset(out + attr_bytes - 8, 0, 8);
        memcpy(out, &attr, sizeof attr);
        memcpy(out + sizeof attr, encoded, len);
        sonde__ring_publish(lane, bytes);
    } else {
        sonde__lane_drop(lane, SONDE_LOSS_FULL);
    }
    for (; cut > 0; cut--)
        sonde__lane_count(&lane->header->cut);
    sonde__lane_leave(lane);
    return id;
}

/* With the lock: reads, records, remembers. */
static bool read_now(shared_reading *shared, sonde_measure measure, uint64_t run,
                     uint64_t end_ticks)
{
    unsigned types = atomic_load(&state.types);
    if (shared->handle && shared->types != types) {
        sonde_capture_close(shared->handle);
        shared->handle = NULL;
    }
    if (!shared->handle)
        shared->handle = open_handle(types, (sonde_level)(measure - 1));
    shared->types = types;
    const sonde_telemetry *telemetry;
    shared->begun_ns = sonde__clock_monotonic_ns();
    shared->run = run;
    shared->reading = (sonde__reading){0};
    if (!shared->handle || sonde_capture_read(shared->handle, &telemetry) != SONDE_OK)
        return false;
    shared->reading.has_point =
        sonde__point_of(telemetry, shared->begun_ns, &shared->reading.point);
    shared->reading.id = write_record(telemetry, end_ticks, &shared->ticks);
    return true;
}

/* With the lock: the first reading of a session. */
static void begin_run(uint64_t run, uint64_t now_ns)
{
    state.run = run;
    state.most = SONDE_MEASURE_FULL;
    state.judged_ns = now_ns;
    state.judged_cost_ns = state.cost_ns + atomic_load(&state.thread_cpu_ns);
}

bool sonde__reading_take(sonde_measure measure, uint64_t end_ticks, sonde__reading *out)
{
    static __thread volatile bool inside; /* a handler that interrupts a reading takes none */
    uint64_t run = atomic_load_explicit(&sonde__run, memory_order_relaxed);
    if (measure == SONDE_MEASURE_OFF || (unsigned)measure >= LEVELS || inside || run == 0)
        return false;
    inside = true;
    uint64_t asked_ns = sonde__clock_monotonic_ns();
    pthread_mutex_lock(&state.lock);
    if (state.run != run)
        begin_run(run, asked_ns);
    if (measure > state.most)
        measure = state.most;
    shared_reading *shared = &state.level[measure];
    bool have = measure != SONDE_MEASURE_OFF;
    /* a reader meets records by time: a reading comes before the end of a task that refers to it */
    bool young = shared->run == run && shared->reading.id != 0 &&
                 shared->begun_ns + atomic_load(&state.max_age_ns) >= asked_ns &&
                 (end_ticks == 0 || shared->ticks <= end_ticks);
    double share = 0;
    bool changed = false;
    sonde_measure before = state.most;
    if (have && !young) {
        have = read_now(shared, measure, run, end_ticks);
        uint64_t now_ns = sonde__clock_monotonic_ns();
        sonde_gauge_add(cost_gauge(), (double)(now_ns - shared->begun_ns) / 1e9);
        state.cost_ns += now_ns - shared->begun_ns;
        changed = judge(now_ns, &share);
    }
    if (have)
        *out = shared->reading;
    pthread_mutex_unlock(&state.lock);
    if (changed)
        tell_change(before, before - 1, share);
    inside = false;
    return have;
}

/* --- sessions --- */

static unsigned valid(int measure)
{
    return (unsigned)measure < LEVELS ? (unsigned)measure : SONDE_MEASURE_OFF;
}

void sonde__reading_start(const sonde_options *options)
{
    atomic_store(&state.types, options->telemetry_types & SONDE_CAPTURE_ALL);
    atomic_store(&state.max_age_ns, options->telemetry_max_age_ns);
    atomic_store(&state.limit, options->overhead_limit);
    atomic_store(&sonde__measuring, valid(options->telemetry_start) | valid(options->telemetry_end)
                                                                          << 8);
}

void sonde__reading_stop(void)
{
    atomic_store(&sonde__measuring, 0);
    sonde_capture_close(state.sampler);
    state.sampler = NULL;
}

void sonde__reading_after_fork(void)
{
    pthread_mutex_init(&state.lock, NULL);
    atomic_store(&sonde__measuring, 0);
    sonde__samples_after_fork();
}

void sonde__reading_sample(void)
{
    const sonde_telemetry *telemetry;
    sonde__point point;
    if (!state.sampler)
        state.sampler = open_handle(SONDE_CAPTURE_PROCESS, SONDE_LEVEL_LIGHT);
    if (state.sampler && sonde_capture_read(state.sampler, &telemetry) == SONDE_OK &&
        sonde__point_of(telemetry, sonde__clock_monotonic_ns(), &point))
        sonde__samples_add(&point);
}
