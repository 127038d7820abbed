/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C by the SSE4.2 instruction where the processor has it, else by a table of sixteen entries,
   a nibble at a time: small, and only other machines use it. */
#include "base/crc32c.h"

#include <stdbool.h>
#include <string.h>

uint32_t sonde__crc32c_portable(uint32_t crc, const void *data, size_t len)
{
    static const uint32_t nibble[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    const uint8_t *bytes = data;
    crc = ~crc;
    for (size_t i = 0; i < len; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ nibble[crc & 15];
        crc = (crc >> 4) ^ nibble[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const void *data,
                                                               size_t len)
{
    const uint8_t *bytes = data;
    uint64_t state = (uint32_t)~crc;
    for (; len >= 8; len -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        state = __builtin_ia32_crc32di(state, word);
    }
    uint32_t rest = (uint32_t)state;
    for (; len > 0; len--, bytes++)
        rest = __builtin_ia32_crc32qi(rest, *bytes);
    return ~rest;
}

uint32_t sonde__crc32c(uint32_t crc, const void *data, size_t len)
{
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c_sse42(crc, data, len);
    return sonde__crc32c_portable(crc, data, len);
}
#else
uint32_t sonde__crc32c(uint32_t crc, const void *data, size_t len)
{
    return sonde__crc32c_portable(crc, data, len);
}
#endif
