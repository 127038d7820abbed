/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_BASE_CRC32C_H
#define SONDE_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli) of data, continuing from crc: 0 at the start. crc32c("123456789") is
   0xe3069283. Any thread. */
uint32_t sonde__crc32c(uint32_t crc, const void *data, size_t len);

/* The same without the processor's instruction; for tests and other machines. */
uint32_t sonde__crc32c_portable(uint32_t crc, const void *data, size_t len);

#endif
