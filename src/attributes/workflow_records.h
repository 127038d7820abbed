/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_ATTRIBUTES_WORKFLOW_RECORDS_H
#define SONDE_ATTRIBUTES_WORKFLOW_RECORDS_H

#include "sonde/processor.h"
#include "sonde/reader.h"

/* Counts a finished workflow, unless its session was counted before; adds to *counted. */
sonde_status sonde__processor_process_run(sonde_processor *processor, sonde_usage *usage,
                                          const sonde_run *run, const sonde_build_context *context,
                                          size_t *counted, sonde_attributes_error *error);

#endif
