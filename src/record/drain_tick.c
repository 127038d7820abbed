/* SPDX-License-Identifier: Apache-2.0 */
#include "record/drain_tick.h"

#include "base/clock.h"
#include "record/own_metrics.h"
#include "record/pump_segment.h"
#include "record/reading.h"
#include "record/sampler.h"

#include <time.h>

void sonde__tick_init(sonde__tick *tick, const sonde_options *options)
{
    uint64_t now = sonde__clock_monotonic_ns();
    *tick = (sonde__tick){
        .sample_interval_ns = options->sample_interval_ns,
        .metrics_interval_ns = options->metrics_interval_ns,
        .sample_due_ns = now,
        .metrics_due_ns = now + options->metrics_interval_ns,
    };
}

void sonde__tick_free(sonde__tick *tick)
{
    sonde__metric_writer_free(&tick->metrics);
}

/* True when it is time; the next time is one interval later, without catching up. */
static bool is_due(uint64_t *due_ns, uint64_t interval_ns, uint64_t now_ns)
{
    if (interval_ns == 0 || now_ns < *due_ns)
        return false;
    *due_ns += interval_ns;
    if (*due_ns <= now_ns)
        *due_ns = now_ns + interval_ns;
    return true;
}

static void note_own_cost(sonde__tick *tick, const sonde__journal *journal)
{
    static sonde_counter *written;
    struct timespec cpu;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0)
        sonde__reading_note_cpu((uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec);
    if (!written)
        written = sonde_counter_get(SONDE__OWN(OVERHEAD_BYTES), NULL);
    sonde_counter_add(written, (int64_t)(journal->written - tick->noted_bytes));
    tick->noted_bytes = journal->written;
}

/* A part begins with all series: those that have not changed may be in one that was removed. */
static void write_metrics(sonde__tick *tick, sonde__pump *pump, bool last)
{
    const sonde__segment_header *header = sonde__pump_header(pump);
    if (pump->stopped || sonde__pump_make_room(pump) != SONDE_OK)
        return;
    bool all = last || pump->journal->part != tick->part;
    if (sonde__metric_frames_write(&tick->metrics, pump->journal, header->session, header->run,
                                   all) == SONDE_OK)
        tick->part = pump->journal->part;
}

void sonde__tick_run(sonde__tick *tick, sonde__pump *pump, bool last)
{
    uint64_t now = sonde__clock_monotonic_ns();
    if (is_due(&tick->sample_due_ns, tick->sample_interval_ns, now)) {
        sonde__sampler_run();
        note_own_cost(tick, pump->journal);
    }
    if (is_due(&tick->metrics_due_ns, tick->metrics_interval_ns, now) || last) {
        note_own_cost(tick, pump->journal);
        write_metrics(tick, pump, last);
    }
}

static uint64_t until(uint64_t due_ns, uint64_t interval_ns, uint64_t now_ns, uint64_t most_ns)
{
    if (interval_ns == 0)
        return most_ns;
    uint64_t left = due_ns > now_ns ? due_ns - now_ns : 1;
    return left < most_ns ? left : most_ns;
}

uint64_t sonde__tick_wait_ns(const sonde__tick *tick, uint64_t most_ns)
{
    uint64_t now = sonde__clock_monotonic_ns();
    most_ns = until(tick->sample_due_ns, tick->sample_interval_ns, now, most_ns);
    return until(tick->metrics_due_ns, tick->metrics_interval_ns, now, most_ns);
}
