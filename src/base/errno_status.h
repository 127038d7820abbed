/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_BASE_ERRNO_STATUS_H
#define SONDE_BASE_ERRNO_STATUS_H

#include "sonde/status.h"

/* What an errno of the kernel means for a value that was to be read. */
sonde_status sonde__status_of_errno(int error);

#endif
