/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sonde__pid_stat stat = {.pid = 42};
    sonde_status status = sonde__parse_pid_stat((const char *)data, size, &stat);
    require(status == SONDE_OK || status == SONDE_EBADDATA);
    require(status == SONDE_OK ? memrchr(data, ')', size) != NULL : stat.pid == 42);
    return 0;
}
