/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a set from a store, or from a copy of one. */
#ifndef SONDE_RECORD_METRIC_FILL_H
#define SONDE_RECORD_METRIC_FILL_H

#include "record/metric_read.h"
#include "record/metric_store.h"
#include "sonde/metric_set.h"

/* Everything in view into set. EBADDATA when the
   descriptions are damaged. */
sonde_status sonde__metric_fill(sonde_metric_set *set, const sonde__metric_view *view);

#endif
