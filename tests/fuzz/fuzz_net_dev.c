/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sonde__scan scan = sonde__scan_of((const char *)data, size), before = scan;
    sonde__net_line line;
    while (sonde__net_dev_next(&scan, &line)) {
        require_progress(&before, &scan);
        require_inside(&before, line.name, line.name_len);
        require(line.name_len < SONDE__NET_NAME_BYTES && (line.name_len > 0 || line.garbled));
        before = scan;
    }
    require(scan.at == scan.end);
    return 0;
}
