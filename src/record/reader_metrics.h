/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a recorded process, interval by interval. */
#ifndef SONDE_RECORD_READER_METRICS_H
#define SONDE_RECORD_READER_METRICS_H

#include "sonde/reader.h"

typedef void sonde__metrics_visit(void *user, uint64_t wall_ns, const sonde_metric_set *set);

/* Calls visit for each time the process's metrics were written, oldest first, with all values as
   they were then; set is what they are put into. ENOMEM, EIO. */
sonde_status sonde__reader_metrics_each(sonde_reader *reader, uint64_t run, sonde_metric_set *set,
                                        sonde__metrics_visit *visit, void *user);

#endif
