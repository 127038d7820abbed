/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t counter[6] = {42};
    sonde_status status = sonde__parse_pid_io((const char *)data, size, counter);
    require(status == SONDE_OK || (status == SONDE_EBADDATA && counter[0] == 42));
    return 0;
}
