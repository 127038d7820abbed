/* SPDX-License-Identifier: Apache-2.0 */
/* Everything of libsonde in one include. */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

#include "sonde/attr.h"
#include "sonde/capture.h"
#include "sonde/logger.h"
#include "sonde/name.h"
#include "sonde/reader.h"
#include "sonde/session.h"
#include "sonde/settings.h"
#include "sonde/status.h"
#include "sonde/task.h"

#endif
