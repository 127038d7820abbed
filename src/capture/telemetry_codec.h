/* SPDX-License-Identifier: Apache-2.0 */
/* A reading as bytes, for the journal. Fields and tables are known by 15 bits of a hash of their
   path, so that a journal stays readable when the table of fields grows; a test checks that no two
   are the same. What a reader does not know it passes over. */
#ifndef SONDE_CAPTURE_TELEMETRY_CODEC_H
#define SONDE_CAPTURE_TELEMETRY_CODEC_H

#include "base/byte_reader.h"
#include "capture/telemetry.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the length; rows that do not fit into cap are left out (*cut counts them). cap is at
   least SONDE__TELEMETRY_BYTES_MIN, which every field without rows fits into. */
enum { SONDE__TELEMETRY_BYTES_MIN = 8192 };
size_t sonde__telemetry_encode(const sonde_telemetry *t, uint8_t *out, size_t cap, uint64_t *cut);

/* Reads bytes back into *out, which is zero before its first use and freed by _free; texts point
   into bytes, names of rows into *out. EBADDATA, ENOMEM. */
sonde_status sonde__telemetry_decode(const uint8_t *bytes, size_t len, sonde_telemetry *out);
void sonde__telemetry_free(sonde_telemetry *t);

/* One value with its status: at most SONDE__VALUE_ROOM bytes. Reading gives the status, EBADDATA
   when the value is of another type; a status alone is one byte. */
enum { SONDE__VALUE_ROOM = 14 };
uint8_t *sonde__value_put(uint8_t *out, bool is_double, int8_t status, sonde__value value);
int8_t sonde__value_get(sonde__bytes *in, bool as_double, sonde__value *value);
sonde_status sonde__value_status(uint8_t byte);

/* 15 bits of a path, never below 16. */
uint16_t sonde__telemetry_tag(const char *path);

#endif
