/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_RECORD_HISTOGRAM_TABLE_H
#define SONDE_RECORD_HISTOGRAM_TABLE_H

#include "sonde/lane_abi.h"

extern const sonde_histogram_table sonde__histogram_table;

#endif
