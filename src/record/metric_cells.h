/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of this thread. */
#ifndef SONDE_RECORD_METRIC_CELLS_H
#define SONDE_RECORD_METRIC_CELLS_H

#include "record/lane.h"

/* After a fork, in the child. */
void sonde__metric_cells_after_fork(void);

#endif
