/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_parser.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    double mhz = -1;
    sonde_status status = sonde__cpuinfo_mhz(text, size, &mhz);
    require(status == SONDE_OK || status == SONDE_EABSENT || status == SONDE_EBADDATA);
    require(status == SONDE_OK ? isfinite(mhz) && mhz >= 0 : mhz == -1);
    bool dynamic = sonde__cpuinfo_is_dynamic(text, size);
    require(dynamic || memmem(text, size, "flags", 5) != NULL);
    return 0;
}
