/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t voluntary = 1, involuntary = 2;
    sonde_status status =
        sonde__parse_pid_status((const char *)data, size, &voluntary, &involuntary);
    require(status == SONDE_OK || status == SONDE_EABSENT || status == SONDE_EBADDATA);
    require(status == SONDE_OK || (voluntary == 1 && involuntary == 2));
    return 0;
}
