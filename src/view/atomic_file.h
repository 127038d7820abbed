/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_VIEW_ATOMIC_FILE_H
#define SONDE_VIEW_ATOMIC_FILE_H

#include "sonde/status.h"

#include <stddef.h>

/* Replaces path by a file with these bytes; whoever reads it sees the old or the new one, never
   half of one. EDENIED, ELIMIT (no space), EIO. */
sonde_status sonde__atomic_write(const char *path, const char *data, size_t len);

#endif
