/* SPDX-License-Identifier: Apache-2.0 */
/* Random identities, unique across threads, processes and hosts. */
#ifndef SONDE_BASE_IDS_H
#define SONDE_BASE_IDS_H

#include <stddef.h>
#include <stdint.h>

/* 64 bits from the kernel's generator, never 0. Falls back to clock, pid and address bits, mixed,
   where getrandom is not available (seccomp). */
uint64_t sonde__id_random(void);

/* Writes id as 16 lower-case hex digits, no NUL. */
void sonde__id_to_hex(uint64_t id, char out[16]);

/* Reads exactly 16 hex digits (either case). Returns 0 and leaves *out alone when they are not. */
int sonde__id_from_hex(const char *text, size_t len, uint64_t *out);

#endif
