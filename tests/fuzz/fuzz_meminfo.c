/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sonde__meminfo info;
    sonde__parse_meminfo((const char *)data, size, &info);
    require(((info.known | info.garbled) >> SONDE__MEM_COUNT) == 0);
    for (unsigned i = 0; i < SONDE__MEM_COUNT; i++) {
        require(info.bytes[i] % 1024 == 0 && info.bytes[i] <= UINT64_MAX / 4);
        require((info.known & 1u << i) || info.bytes[i] == 0);
    }
    return 0;
}
