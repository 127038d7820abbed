/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point that libFuzzer and replay.c call. */
#ifndef SONDE_TESTS_FUZZ_H
#define SONDE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
