/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t pages[7] = {42};
    sonde_status status = sonde__parse_statm((const char *)data, size, pages);
    require(status == SONDE_OK ? size >= 14 : status == SONDE_EBADDATA && pages[0] == 42);
    return 0;
}
