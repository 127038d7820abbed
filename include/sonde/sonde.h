/* SPDX-License-Identifier: Apache-2.0 */
/* Everything of libsonde in one include. */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

#include "sonde/attr.h"
#include "sonde/attributes.h"
#include "sonde/capture.h"
#include "sonde/encode.h"
#include "sonde/gpu.h"
#include "sonde/logger.h"
#include "sonde/machine.h"
#include "sonde/metric.h"
#include "sonde/metric_set.h"
#include "sonde/name.h"
#include "sonde/processor.h"
#include "sonde/reader.h"
#include "sonde/session.h"
#include "sonde/settings.h"
#include "sonde/snapshot.h"
#include "sonde/status.h"
#include "sonde/task.h"
#include "sonde/task_telemetry.h"
#include "sonde/usage_metrics.h"

#endif
