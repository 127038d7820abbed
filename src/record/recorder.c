/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder of the process: who has which lane, how a session's segment comes and goes, and what
   happens in a forked child. */
#include "record/recorder.h"

#include "base/clock.h"
#include "record/library_thread.h"
#include "record/metric_cells.h"
#include "record/metric_registry.h"
#include "record/metric_store.h"
#include "record/names.h"
#include "record/reading.h"
#include "sonde/reader.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Handle 0 is the shared one, handle 1 has the metric cells of the library's own thread. */
enum { LIBRARY_HANDLE = 1, FIRST_HANDLE = 2 };

/* What a thread has before its first record, and in processes that do not record. */
static sonde__lane_local null_lane = {.state = SONDE_LANE_ASK};
__thread sonde_lane *sonde__lane __attribute__((tls_model("initial-exec"))) =
    (sonde_lane *)(void *)&null_lane;

sonde__recorder sonde__the_recorder = {.control = PTHREAD_MUTEX_INITIALIZER,
                                       .lock = PTHREAD_MUTEX_INITIALIZER};
_Atomic uint64_t sonde__run;

static pthread_key_t lane_key;
static uint64_t fork_parent; /* set by the fork handler in the parent, read in the child */

__thread unsigned sonde__holds __attribute__((tls_model("initial-exec")));

/* The mark is set before the lock is taken and cleared after it is given back. */
static void mark(unsigned what)
{
    sonde__holds |= what;
    atomic_signal_fence(memory_order_seq_cst);
}

static void unmark(unsigned what)
{
    atomic_signal_fence(memory_order_seq_cst);
    sonde__holds &= ~what;
}

void sonde__recorder_lock(void)
{
    mark(SONDE__HOLDS_RECORDER);
    pthread_mutex_lock(&sonde__the_recorder.lock);
}

bool sonde__recorder_trylock(void)
{
    if (sonde__holds & SONDE__HOLDS_RECORDER)
        return false;
    mark(SONDE__HOLDS_RECORDER);
    if (pthread_mutex_trylock(&sonde__the_recorder.lock) == 0)
        return true;
    unmark(SONDE__HOLDS_RECORDER);
    return false;
}

void sonde__recorder_unlock(void)
{
    pthread_mutex_unlock(&sonde__the_recorder.lock);
    unmark(SONDE__HOLDS_RECORDER);
}

/* The same for a record: whoever has it for long opens a session, or stands still because it waits
   for something that the code under this signal handler holds (malloc's lock). */
static bool lock_for_record(void)
{
    uint64_t deadline = sonde__clock_monotonic_ns() + SONDE__CLAIM_WAIT_NS;
    while (!sonde__recorder_trylock()) {
        if (sonde__clock_monotonic_ns() >= deadline)
            return false;
        sched_yield();
    }
    return true;
}

/* The stack of a thread that has no lane of its own, valid for one run. */
static __thread struct {
    uint64_t run;
    uint16_t top;
} shared_stack;

uint16_t *sonde__lane_shared_top(void)
{
    uint64_t run = atomic_load_explicit(&sonde__run, memory_order_relaxed);
    if (shared_stack.run != run) {
        shared_stack.run = run;
        shared_stack.top = SONDE__NO_SLOT;
    }
    return &shared_stack.top;
}

static sonde__region *region_now(void)
{
    return atomic_load_explicit(&sonde__the_recorder.region, memory_order_acquire);
}

static bool in_region(const sonde__region *region, const sonde__lane_local *lane)
{
    return region && lane >= region->lanes && lane <= region->lanes + SONDE__LANES_LIMIT;
}

static void wipe_in_child(void)
{
    sonde__region *region = region_now();
    if (region)
        memset((void *)region, 0, sizeof *region);
}

static sonde__region *new_region(void)
{
    void *memory = mmap(NULL, sizeof(sonde__region), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    static bool handler;
    if (madvise(memory, sizeof(sonde__region), MADV_WIPEONFORK) != 0 && !handler) {
        handler = true; /* a kernel before 4.14: children by fork() only */
        pthread_atfork(NULL, NULL, wipe_in_child);
    }
    sonde__region *region = memory;
    atomic_store(&region->alive, 1);
    return region;
}

/* --- a thread comes and goes --- */

/* Open tasks of a thread that ends stay open: another thread may end them. */
static void detach_stack(sonde__lane_local *lane)
{
    for (uint16_t i = lane->top; i != SONDE__NO_SLOT;
         i = sonde__meta_below(sonde__slot_meta_of(&lane->slots[i])))
        sonde__slot_off_stack(&lane->slots[i]);
    lane->top = SONDE__NO_SLOT;
}

static void thread_exits(void *value)
{
    sonde__lane_local *lane = value;
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__lane = (sonde_lane *)(void *)&null_lane;
    sonde__region *region = region_now();
    if (!in_region(region, lane) || atomic_load(&region->alive) != 1)
        return;
    sonde__recorder_lock();
    if (lane->bound) {
        detach_stack(lane);
        atomic_store_explicit(&lane->header->thread, 0, memory_order_relaxed);
    }
    lane->owned = false;
    __atomic_store_n(&recorder->lanes_exhausted, false, __ATOMIC_RELAXED);
    sonde__recorder_unlock();
}

static void before_fork(void)
{
    sonde_task task = sonde_task_current();
    fork_parent = task ? sonde_task_context(task).span : 0;
    sonde__library_before_fork();
}

uint64_t sonde__recorder_fork_parent(void)
{
    return fork_parent;
}

void sonde__recorder_prepare(void)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    if (recorder->prepared)
        return;
    recorder->prepared = true;
    pthread_key_create(&lane_key, thread_exits);
    pthread_atfork(before_fork, sonde__library_after_fork_in_parent,
                   sonde__library_after_fork_in_child);
    atexit(sonde__session_at_exit);
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

/* --- lanes --- */

static uint32_t state_to_be(void)
{
    return __atomic_load_n(&null_lane.state, __ATOMIC_RELAXED) == SONDE_LANE_OFF ? SONDE_LANE_PAUSED
                                                                                 : SONDE_LANE_ON;
}

/* With the lock: a handle that no thread has; one with a lane if there is one, a lane passes on. */
static sonde__lane_local *pick_handle(sonde__region *region)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__lane_local *unbound = NULL;
    for (uint32_t i = FIRST_HANDLE; i < recorder->handles_used; i++) {
        sonde__lane_local *lane = &region->lanes[i];
        if (!lane->owned && lane->bound)
            return lane;
        if (!lane->owned)
            unbound = lane;
    }
    if (!unbound && recorder->handles_used <= SONDE__LANES_LIMIT)
        unbound = &region->lanes[recorder->handles_used++];
    return unbound;
}

static bool bind_handle(sonde__lane_local *lane)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    uint32_t index = recorder->lanes_used;
    if (!sonde__segment_add_lane(&recorder->segment, index))
        return false;
    sonde__lane_bind(lane, &recorder->segment, index);
    atomic_store(&recorder->by_index[index], lane);
    recorder->lanes_used++;
    return true;
}

static void own_handle(sonde__lane_local *lane)
{
    lane->owned = true;
    sonde__lane = (sonde_lane *)(void *)lane;
    pthread_setspecific(lane_key, lane);
}

/* With the lock: a lane for the calling thread. NULL: there are no more. */
static sonde__lane_local *claim(sonde__region *region)
{
    sonde__lane_local *lane = sonde__lane_mine();
    if (!in_region(region, lane) || !lane->bound) {
        if (in_region(region, lane))
            lane->owned = false; /* from an earlier session */
        sonde__lane = (sonde_lane *)(void *)&null_lane;
        lane = pick_handle(region);
        if (!lane || (!lane->bound && !bind_handle(lane)))
            return NULL;
        own_handle(lane);
        atomic_store_explicit(&lane->header->thread, (uint32_t)gettid(), memory_order_relaxed);
    }
    __atomic_store_n(&lane->state, state_to_be(), __ATOMIC_RELEASE);
    return lane;
}

/* A record that a handler could not place. The segment stays mapped while this counts. */
static void count_signal_loss(sonde__region *region)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    atomic_fetch_add(&region->counting, 1);
    uint32_t state = __atomic_load_n(&region->lanes[0].state, __ATOMIC_SEQ_CST);
    if (state == SONDE_LANE_ON || state == SONDE_LANE_PAUSED)
        atomic_fetch_add_explicit(&sonde__segment_header_of(&recorder->segment)->signal_lost, 1,
                                  memory_order_relaxed);
    atomic_fetch_sub(&region->counting, 1);
}

/* try_only: from a handler, which waits for another thread a little, and not at all for what it has
   interrupted. */
static sonde__lane_local *lock_shared(bool try_only)
{
    sonde__region *region = region_now();
    if (!region)
        return NULL;
    sonde__lane_local *lane = &region->lanes[0];
    bool mine = sonde__holds & SONDE__HOLDS_SHARED;
    if (!mine)
        mark(SONDE__HOLDS_SHARED);
    for (int i = 0; mine || __atomic_exchange_n(&lane->busy, 1, __ATOMIC_ACQUIRE) != 0; i++) {
        if (mine || (try_only && i >= SONDE__SHARED_TRIES)) {
            if (!mine)
                unmark(SONDE__HOLDS_SHARED);
            count_signal_loss(region);
            return NULL;
        }
        sched_yield();
    }
    uint32_t state = __atomic_load_n(&lane->state, __ATOMIC_ACQUIRE);
    if (state == SONDE_LANE_ON || state == SONDE_LANE_PAUSED)
        return lane;
    sonde__lane_leave_shared(lane);
    return NULL;
}

void sonde__lane_leave_shared(sonde__lane_local *lane)
{
    __atomic_store_n(&lane->busy, 0, __ATOMIC_RELEASE);
    unmark(SONDE__HOLDS_SHARED);
}

uint32_t sonde__lane_handle(const sonde__lane_local *lane)
{
    return (uint32_t)(lane - region_now()->lanes);
}

bool sonde__recorder_watch_fork(void)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    if (region_now())
        return true;
    sonde__region *made = new_region();
    sonde__region *none = NULL;
    if (made && !atomic_compare_exchange_strong(&recorder->region, &none, made))
        munmap(made, sizeof *made);
    return region_now() != NULL;
}

sonde__lane_local *sonde__lane_claim_handle(void)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__region *region = region_now();
    sonde__lane_local *lane = sonde__lane_mine();
    if (in_region(region, lane))
        return lane;
    if (!region || !sonde__recorder_trylock())
        return NULL;
    sonde__recorder_prepare();
    if (recorder->handles_used == 0)
        recorder->handles_used = FIRST_HANDLE;
    lane = pick_handle(region);
    if (lane)
        own_handle(lane);
    if (lane && !lane->bound)
        __atomic_store_n(&lane->state, __atomic_load_n(&null_lane.state, __ATOMIC_RELAXED),
                         __ATOMIC_RELEASE);
    sonde__recorder_unlock();
    return lane;
}

void sonde__lane_of_library(void)
{
    sonde__lane = (sonde_lane *)(void *)&region_now()->lanes[LIBRARY_HANDLE];
}

sonde_status sonde__recorder_drain_now(uint64_t timeout_ns)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__recorder_check_fork();
    pthread_mutex_lock(&recorder->control);
    sonde_status status = SONDE_EOFF;
    if (recorder->session.open && !recorder->session.disabled)
        status = sonde__drain_flush(&recorder->drain, false, timeout_ns);
    pthread_mutex_unlock(&recorder->control);
    return status;
}

/* Recording is paused, and a task that was begun before ends. */
static sonde__lane_local *enter_paused(sonde__lane_local *lane)
{
    __atomic_store_n(&lane->busy, 1, __ATOMIC_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    uint32_t state = __atomic_load_n(&lane->state, __ATOMIC_RELAXED);
    if (state == SONDE_LANE_PAUSED || state == SONDE_LANE_ON)
        return lane;
    __atomic_store_n(&lane->busy, 0, __ATOMIC_RELEASE);
    return NULL;
}

sonde__lane_local *sonde__lane_enter_slow(bool ending)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__lane_local *lane = sonde__lane_mine();
    uint32_t state = __atomic_load_n(&lane->state, __ATOMIC_RELAXED);
    if (state == SONDE_LANE_OFF || (state == SONDE_LANE_PAUSED && !ending))
        return NULL;
    if (state != SONDE_LANE_ASK && __atomic_load_n(&lane->busy, __ATOMIC_RELAXED))
        return lock_shared(true); /* a signal handler inside a call of its own thread */
    if (sonde__holds & (SONDE__HOLDS_RECORDER | SONDE__HOLDS_SHARED))
        return lock_shared(true); /* the same, and the thread has no lane of its own (yet) */
    if (state == SONDE_LANE_PAUSED)
        return enter_paused(lane);
    sonde__recorder_check_fork();
    if (__atomic_load_n(&recorder->lanes_exhausted, __ATOMIC_RELAXED))
        return lock_shared(false);
    if (!lock_for_record())
        return lock_shared(true);
    sonde__lane_local *claimed = NULL;
    bool recording = recorder->session.open ? !recorder->session.disabled : sonde__session_auto();
    if (recording) {
        claimed = claim(region_now());
        if (!claimed)
            __atomic_store_n(&recorder->lanes_exhausted, true, __ATOMIC_RELAXED);
    } else if (!recorder->session.open) {
        __atomic_store_n(&null_lane.state, SONDE_LANE_OFF, __ATOMIC_RELAXED);
    }
    sonde__recorder_unlock();
    if (!recording)
        return NULL;
    if (!claimed)
        return lock_shared(false);
    return __atomic_load_n(&claimed->state, __ATOMIC_RELAXED) == SONDE_LANE_ON || ending
               ? enter_paused(claimed)
               : NULL;
}

/* --- sessions begin and end --- */

/* Handles without a lane in this segment, and threads without a handle, get the other state. */
static void set_states(uint32_t bound, uint32_t unbound)
{
    sonde__region *region = region_now();
    __atomic_store_n(&null_lane.state, unbound, __ATOMIC_RELEASE);
    for (uint32_t i = 0; region && i < sonde__the_recorder.handles_used; i++)
        __atomic_store_n(&region->lanes[i].state, region->lanes[i].bound ? bound : unbound,
                         __ATOMIC_RELEASE);
}

static void fill_header(const sonde_session *session)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__segment_header *header = sonde__segment_header_of(&recorder->segment);
    header->session = session->id;
    header->trace_hi = session->trace_hi;
    header->trace_lo = session->trace_lo;
    header->parent = session->parent;
    header->tsc = sonde__ticks_have_tsc();
    sonde__anchor first = sonde__anchor_read(header->tsc != 0);
    header->first_ticks = first.ticks;
    header->first_mono_ns = first.mono_ns;
    atomic_store(&header->wall_offset_ns, first.wall_offset_ns);
    memcpy(header->journal_path, recorder->drain.journal.path, sizeof header->journal_path);
}

sonde_status sonde__recorder_start(const sonde_session *session)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    if (!sonde__recorder_watch_fork())
        return SONDE_ENOMEM;
    sonde__region *region = region_now();
    if (recorder->handles_used == 0)
        recorder->handles_used = FIRST_HANDLE;
    fill_header(session);
    atomic_store(&sonde__run, session->run);
    recorder->lanes_used = 0;
    __atomic_store_n(&recorder->lanes_exhausted, false, __ATOMIC_RELAXED);
    region->lanes[0].shared = true;
    if (!bind_handle(&region->lanes[0]))
        return SONDE_ELIMIT;
    recorder->full_wait_ns = session->options.full_wait_ns;
    recorder->drain.interval_ns = session->options.drain_interval_ns;
    sonde__tick_init(&recorder->drain.tick, &session->options);
    sonde__names_attach(&recorder->segment);
    atomic_store_explicit(&sonde__segment_header_of(&recorder->segment)->ready, 1,
                          memory_order_release);
    sonde_status status =
        sonde__drain_start(&recorder->drain, &recorder->segment, &session->options);
    if (status != SONDE_OK) {
        sonde__names_attach(NULL);
        region->lanes[0].bound = false;
        return status;
    }
    sonde__metric_store_publish(session->run, session->options.safety != SONDE_SAFETY_MEMORY);
    sonde__reading_start(&session->options);
    set_states(SONDE_LANE_ON, SONDE_LANE_ASK);
    return SONDE_OK;
}

/* True when no thread is inside a call on a lane any more (and none can get in). */
static bool lanes_quiet(sonde__region *region)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        return false;
    uint64_t deadline = sonde__clock_monotonic_ns() + SONDE__CLOSE_WAIT_NS;
    for (uint32_t i = 0; i < sonde__the_recorder.handles_used; i++)
        while (__atomic_load_n(&region->lanes[i].busy, __ATOMIC_ACQUIRE)) {
            if (sonde__clock_monotonic_ns() > deadline)
                return false;
            sched_yield();
        }
    while (atomic_load(&region->counting) > 0)
        if (sonde__clock_monotonic_ns() > deadline)
            return false;
    return true;
}

void sonde__recorder_stop(const sonde__run_end *end, uint64_t wait_ns)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__region *region = region_now();
    set_states(SONDE_LANE_OFF, SONDE_LANE_OFF);
    bool quiet = lanes_quiet(region);
    sonde_status status = sonde__drain_stop(&recorder->drain, end, wait_ns);
    sonde__names_attach(NULL);
    sonde__metric_store_withdraw();
    sonde__reading_stop();
    sonde__journal_close(&recorder->drain.journal);
    for (uint32_t i = 0; i < recorder->handles_used; i++)
        region->lanes[i].bound = false;
    for (uint32_t i = 0; i < recorder->lanes_used; i++)
        atomic_store(&recorder->by_index[i], NULL);
    if (status == SONDE_OK)
        sonde__segment_unlink(&recorder->segment);
    /* else it stays for `sonde recover`: unmapping it gives up its lock. A thread that is still
       inside a call keeps it mapped. */
    if (quiet)
        sonde__segment_unmap(&recorder->segment);
    recorder->segment = (sonde__segment){0};
    recorder->lanes_used = 0;
    __atomic_store_n(&recorder->lanes_exhausted, false, __ATOMIC_RELAXED);
    atomic_store(&sonde__run, 0);
}

void sonde_set_enabled(int enabled)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__recorder_check_fork();
    sonde__recorder_lock();
    if (recorder->session.open && !recorder->session.disabled)
        set_states(enabled ? SONDE_LANE_ON : SONDE_LANE_PAUSED,
                   enabled ? SONDE_LANE_ASK : SONDE_LANE_OFF);
    sonde__recorder_unlock();
}

/* --- fork --- */

/* The first call in a child. The mapping is gone (MADV_DONTFORK), the drain's thread too; locks may
   be held by threads that do not exist here. */
static void start_anew(sonde__region *old)
{
    sonde__recorder *recorder = &sonde__the_recorder;
    sonde__names_after_fork();
    sonde__registry_after_fork();
    sonde__metric_store_after_fork();
    sonde__metric_cells_after_fork();
    sonde__reading_after_fork();
    pthread_mutex_init(&recorder->control, NULL);
    pthread_mutex_init(&recorder->lock, NULL);
    recorder->drain.journal.packer = (sonde__packer){0}; /* free() may not be safe here */
    sonde__journal_close(&recorder->drain.journal);
    if (sonde__library_rested())
        sonde__follower_abandon(&recorder->drain.follower);
    sonde__frame_writer buffers = recorder->drain.pump.frame;
    memset(&recorder->drain, 0, sizeof recorder->drain);
    recorder->drain.pump.frame = buffers; /* used again */
    recorder->segment = (sonde__segment){0};
    recorder->lanes_used = 0;
    recorder->handles_used = 0;
    recorder->lanes_exhausted = false;
    for (uint32_t i = 0; i <= SONDE__LANES_LIMIT; i++)
        atomic_store_explicit(&recorder->by_index[i], NULL, memory_order_relaxed);
    recorder->fork_pending = recorder->session.open && !recorder->session.disabled;
    recorder->session.open = false;
    sonde__region *region = new_region();
    if (region)
        atomic_store(&recorder->region, region);
    else
        atomic_store(&old->alive, 1); /* no memory: nothing is recorded here */
}

void sonde__recorder_check_fork(void)
{
    sonde__region *region = region_now();
    if (!region || atomic_load(&region->alive) == 1)
        return;
    uint32_t wiped = 0;
    if (atomic_compare_exchange_strong(&region->alive, &wiped, 2)) {
        start_anew(region);
        return;
    }
    while (region_now() == region && atomic_load(&region->alive) == 2)
        sched_yield();
}
