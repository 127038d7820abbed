/* SPDX-License-Identifier: Apache-2.0 */
/* Taking readings. Handles keep kernel files open, so there is one for each level and not one for
   each thread; whoever waited for the lock shares the reading that was taken meanwhile. What
   readings cost is added up; above the limit less is read: full, regular, light, nothing. When
   they have cost less than half of it for a while, one level more is read again, and each time that
   turns out to be too much, the next try waits twice as long. */
#include "record/reading.h"

#include "base/clock.h"
#include "capture/telemetry_codec.h"
#include "record/metric_registry.h"
#include "record/own_metrics.h"
#include "record/recorder.h"
#include "record/sampler.h"
#include "record/task_impl.h"
#include "sonde/settings.h"

#include <pthread.h>
#include <string.h>

enum { LEVELS = SONDE_MEASURE_FULL + 1 };
#define JUDGE_NS    1000000000u   /* the cost is judged over at least a second */
#define CALM_NS     5000000000u   /* how long it must be low before more is read again */
#define CALM_MAX_NS 320000000000u /* at most, after tries that were too much */

_Atomic uint32_t sonde__measuring;

typedef struct shared_reading {
    sonde_capture *handle;
    unsigned types; /* that the handle reads */
    uint64_t meter;
    uint64_t run;
    uint64_t begun_ns;
    uint64_t ticks; /* the time of its record */
    sonde__reading reading;
} shared_reading;

static struct {
    pthread_mutex_t lock;
    shared_reading level[LEVELS];
    /* set when a session begins, without the lock: that is held while a lane is claimed */
    _Atomic unsigned types;
    _Atomic uint64_t max_age_ns;
    _Atomic double limit;
    _Atomic uint64_t thread_cpu_ns;
    _Atomic(sonde_settings *) given; /* by the session, to be taken into use */
    /* behind the lock */
    uint64_t run;             /* that the rest is about */
    sonde_settings *settings; /* in use; NULL: the defaults */
    sonde_measure most;       /* nothing above this is read now */
    sonde_measure asked;      /* the most that was asked for since the cost was judged */
    uint64_t calm_ns;         /* how long the cost has been low */
    uint64_t calm_needed_ns;
    bool tried;         /* the last change was upwards */
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

/* With the lock: the settings of the session that is open, and no handle opened by others. */
static void take_settings(void)
{
    sonde_settings *given = atomic_exchange(&state.given, NULL);
    if (!given)
        return;
    for (unsigned i = 0; i < LEVELS; i++) {
        sonde_capture_close(state.level[i].handle);
        state.level[i].handle = NULL;
    }
    sonde_settings_free(state.settings);
    state.settings = given;
}

/* With the lock. What the program asks for; when that is the default, what the settings say. */
static sonde_capture *open_handle(unsigned types, sonde_level level)
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    if (state.settings)
        options = *sonde_settings_capture(state.settings);
    if (types != SONDE_CAPTURE_STANDARD || !state.settings)
        options.types = types;
    options.types |= SONDE_CAPTURE_PROCESS;
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
        known = sonde_gauge_get(SONDE__OWN(OVERHEAD_READINGS), NULL);
        atomic_store(&gauge, known);
    }
    return known;
}

void sonde__reading_note_cpu(uint64_t thread_cpu_ns)
{
    static sonde_gauge *gauge;
    uint64_t before = atomic_exchange(&state.thread_cpu_ns, thread_cpu_ns);
    if (!gauge)
        gauge = sonde_gauge_get(SONDE__OWN(OVERHEAD_CPU), NULL);
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

static void lower(void)
{
    if (state.tried && state.calm_needed_ns < CALM_MAX_NS)
        state.calm_needed_ns *= 2;
    state.tried = false;
    state.calm_ns = 0;
    state.most--;
}

static bool is_calm(uint64_t elapsed_ns)
{
    state.calm_ns += elapsed_ns;
    return state.calm_ns >= state.calm_needed_ns;
}

/* With the lock, after a reading or instead of one. True: another level is read from now on, and
 *share was the cost. */
static bool judge(uint64_t now_ns, double *share)
{
    uint64_t cost = state.cost_ns + atomic_load(&state.thread_cpu_ns);
    uint64_t elapsed = now_ns - state.judged_ns;
    double limit = atomic_load(&state.limit);
    if (limit <= 0 || elapsed < JUDGE_NS)
        return false;
    *share = (double)(cost - state.judged_cost_ns) / (double)elapsed;
    state.judged_ns = now_ns;
    state.judged_cost_ns = cost;
    sonde_measure asked = state.asked;
    state.asked = SONDE_MEASURE_OFF;
    if (*share > limit) {
        if (state.most > asked)
            state.most = asked;
        bool can = state.most > SONDE_MEASURE_OFF;
        if (can)
            lower();
        return can;
    }
    if (*share > limit / 2 || state.most >= asked) {
        state.calm_ns = 0;
        return false;
    }
    if (!is_calm(elapsed))
        return false;
    state.calm_ns = 0;
    state.tried = true;
    state.most++;
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
                     uint64_t end_ticks, uint64_t now_ns)
{
    unsigned types = atomic_load(&state.types);
    take_settings();
    if (shared->handle && shared->types != types) {
        sonde_capture_close(shared->handle);
        shared->handle = NULL;
    }
    if (!shared->handle) {
        shared->handle = open_handle(types, (sonde_level)(measure - 1));
        shared->meter = sonde__meter_next();
    }
    shared->types = types;
    const sonde_telemetry *telemetry;
    shared->begun_ns = now_ns;
    shared->run = run;
    shared->reading = (sonde__reading){0};
    if (!shared->handle || sonde_capture_read(shared->handle, &telemetry) != SONDE_OK)
        return false;
    shared->reading.has_point =
        sonde__point_of(telemetry, shared->begun_ns, shared->meter, &shared->reading.point);
    shared->reading.id = write_record(telemetry, end_ticks, &shared->ticks);
    return true;
}

/* With the lock: the first reading of a session. */
static void begin_run(uint64_t run, uint64_t now_ns)
{
    state.run = run;
    state.most = SONDE_MEASURE_FULL;
    state.asked = SONDE_MEASURE_OFF;
    state.calm_ns = 0;
    state.calm_needed_ns = CALM_NS;
    state.tried = false;
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
    uint64_t now_ns = asked_ns;
    if (pthread_mutex_trylock(&state.lock) != 0) {
        pthread_mutex_lock(&state.lock);
        now_ns = sonde__clock_monotonic_ns();
    }
    if (state.run != run)
        begin_run(run, asked_ns);
    if (measure > state.asked)
        state.asked = measure;
    if (measure > state.most)
        measure = state.most;
    shared_reading *shared = &state.level[measure];
    bool have = measure != SONDE_MEASURE_OFF;
    /* a reader meets records by time: a reading comes before the end of a task that refers to it */
    bool young = shared->run == run && shared->reading.id != 0 &&
                 shared->begun_ns + atomic_load(&state.max_age_ns) >= asked_ns &&
                 (end_ticks == 0 || shared->ticks <= end_ticks);
    double share = 0;
    if (have && !young) {
        have = read_now(shared, measure, run, end_ticks, now_ns);
        now_ns = sonde__clock_monotonic_ns();
        sonde_gauge_add(cost_gauge(), (double)(now_ns - shared->begun_ns) / 1e9);
        state.cost_ns += now_ns - shared->begun_ns;
    }
    sonde_measure before = state.most < state.asked ? state.most : state.asked;
    bool changed = judge(now_ns, &share);
    sonde_measure after = state.most;
    if (have)
        *out = shared->reading;
    pthread_mutex_unlock(&state.lock);
    if (changed)
        tell_change(before, after, share);
    inside = false;
    return have;
}

/* --- sessions --- */

static unsigned valid(int measure)
{
    return (unsigned)measure < LEVELS ? (unsigned)measure : SONDE_MEASURE_OFF;
}

/* A level of the settings, where the program asks for nothing. */
static unsigned measure_of(const sonde_settings *settings, const char *key, int asked)
{
    const char *text;
    sonde_level level;
    if (valid(asked) != SONDE_MEASURE_OFF || !settings ||
        sonde_settings_text(settings, key, &text) != SONDE_OK ||
        sonde_level_parse(text, &level) != SONDE_OK)
        return valid(asked);
    return (unsigned)level + 1;
}

void sonde__reading_settings(sonde_settings *settings, sonde_options *options)
{
    options->telemetry_start =
        (int)measure_of(settings, "instrumentation.telemetry_at_start", options->telemetry_start);
    options->telemetry_end =
        (int)measure_of(settings, "instrumentation.telemetry_at_end", options->telemetry_end);
    bool by_settings = settings && options->telemetry_types == SONDE_CAPTURE_STANDARD;
    sonde__sampler_types(by_settings ? sonde_settings_capture(settings)->types
                                     : options->telemetry_types);
    sonde_settings_free(atomic_exchange(&state.given, settings));
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
    sonde__sampler_close();
}

void sonde__reading_after_fork(void)
{
    pthread_mutex_init(&state.lock, NULL);
    atomic_store(&sonde__measuring, 0);
    sonde__samples_after_fork();
}
