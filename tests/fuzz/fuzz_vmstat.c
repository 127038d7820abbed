/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t in = 1, out = 2;
    sonde_status status = sonde__parse_vmstat((const char *)data, size, &in, &out);
    require(status == SONDE_OK || status == SONDE_EABSENT || status == SONDE_EBADDATA);
    require(status == SONDE_OK || (in == 1 && out == 2));
    return 0;
}
