/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_ATTRIBUTES_RECORD_EXTRACT_H
#define SONDE_ATTRIBUTES_RECORD_EXTRACT_H

#include "base/json_read.h"
#include "sonde/attributes.h"

/* Longest time a record may claim, in seconds: three centuries. More is a mistake in units. */
#define SONDE__TIME_LAPSED_MAX_S 1e10

/* What a token is, for messages: "a number", "an object". */
const char *sonde__json_token_words(sonde__json_token token);

/* Why a time is not one, or NULL. */
const char *sonde__time_lapsed_fault(double seconds);

/* A value as the original takes it, of whatever type (compat). */
sonde_status sonde__extract_compat(sonde_data *data, size_t index, sonde__json_reader *reader,
                                   sonde__json_token token);

#endif
