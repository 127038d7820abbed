/* SPDX-License-Identifier: Apache-2.0 */
/* The running summary of a session's work packets: one pass, memory that does not grow with their
   number. */
#ifndef SONDE_VIEW_TALLY_H
#define SONDE_VIEW_TALLY_H

#include "view/group_table.h"

typedef enum sonde__tally_by {
    SONDE__BY_ACTIVITY,
    SONDE__BY_WORKER,
    SONDE__BY_LAYER,
    SONDE__BY_DEVICE,
    SONDE__BY_COUNT
} sonde__tally_by;

enum {
    SONDE__TALLY_SUMMARY = 1 << SONDE__BY_ACTIVITY | 1 << SONDE__BY_DEVICE,
    SONDE__TALLY_ALL = 15
};

/* "activity", "worker", "layer", "device". */
const char *sonde__tally_by_name(sonde__tally_by by);

typedef struct sonde__tally {
    unsigned tables; /* which are kept */
    uint64_t packets;
    uint64_t failed;
    uint64_t fallbacks;  /* ran on another device than was asked for */
    uint64_t targets;    /* packets that said what was asked for */
    uint64_t contention; /* began while the other of cpu and igpu was at work */
    uint64_t cpu_end_ns;
    uint64_t igpu_end_ns;
    uint64_t first_start_ns; /* UINT64_MAX while empty */
    uint64_t last_end_ns;
    uint64_t unplaced; /* packets that no memory was left to group */
    sonde__busy busy;  /* of any device */
    sonde__group_table by[SONDE__BY_COUNT];
    sonde__group_table experts;       /* expert_N, by packets that say which; counts only */
    sonde__group_table expert_layers; /* OPERATION_layer_N, by names; counts only */
} sonde__tally;

/* tables: bits by sonde__tally_by; activity and device are always kept. */
void sonde__tally_init(sonde__tally *tally, unsigned tables);
void sonde__tally_free(sonde__tally *tally);

void sonde__tally_add(sonde__tally *tally, const sonde__packet *packet);

/* Successes on a device and what they took; zero when it was never seen. */
uint64_t sonde__tally_device_packets(const sonde__tally *tally, const char *device);
uint64_t sonde__tally_device_ns(const sonde__tally *tally, const char *device);

#endif
