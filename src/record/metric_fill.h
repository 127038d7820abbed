/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a set from a store, or from a copy of one. */
#ifndef SONDE_RECORD_METRIC_FILL_H
#define SONDE_RECORD_METRIC_FILL_H

#include "record/metric_read.h"
#include "record/metric_store.h"
#include "sonde/metric_set.h"

#include <stdbool.h>
#include <string.h>

/* Everything in view into set. EBADDATA when the
   descriptions are damaged. */
sonde_status sonde__metric_fill(sonde_metric_set *set, const sonde__metric_view *view);

/* Building a set by hand: begin, put each series (its texts, labels and distribution are copied),
   end. Until end the set is empty for its readers. False: no memory. */
void sonde__metric_set_begin(sonde_metric_set *set);
bool sonde__metric_set_put(sonde_metric_set *set, const sonde_metric *metric);
sonde_status sonde__metric_set_end(sonde_metric_set *set);

/* Name, help, keys and values of a series of a set lie behind one another: all of them as one piece
   of memory, by which a series is known again. */
static inline size_t sonde__metric_identity(const sonde_metric *metric)
{
    const char *last =
        metric->label_count > 0 ? metric->labels[metric->label_count - 1].value : metric->help;
    return (size_t)(last - metric->name) + strlen(last) + 1;
}

#endif
