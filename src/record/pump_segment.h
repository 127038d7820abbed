/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the segment that a pump reads, for the files that implement it. */
#ifndef SONDE_RECORD_PUMP_SEGMENT_H
#define SONDE_RECORD_PUMP_SEGMENT_H

#include "record/drain.h"

static inline sonde__segment_header *sonde__pump_header(const sonde__pump *pump)
{
    return (sonde__segment_header *)(void *)pump->base;
}

static inline sonde__lane_header *sonde__pump_lane(const sonde__pump *pump, uint32_t index)
{
    const sonde__segment_header *header = sonde__pump_header(pump);
    return (sonde__lane_header *)(void *)(pump->base + header->lanes_offset +
                                          (uint64_t)index * header->lane_stride);
}

static inline uint32_t sonde__pump_lane_count(const sonde__pump *pump)
{
    return atomic_load_explicit(&sonde__pump_header(pump)->lanes_used, memory_order_acquire);
}

#endif
