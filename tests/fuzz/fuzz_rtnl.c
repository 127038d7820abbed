/* SPDX-License-Identifier: Apache-2.0 */
/* The first four bytes are the sequence number asked for, the rest a datagram of a dump. */
#include "fuzz_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t sequence;
    if (size < sizeof sequence)
        return 0;
    memcpy(&sequence, data, sizeof sequence);
    sonde__scan scan = sonde__scan_of((const char *)data + sizeof sequence, size - sizeof sequence);
    sonde__scan before = scan;
    sonde__link_stats stats;
    sonde__link_step step;
    while ((step = sonde__link_stats_next(&scan, sequence, &stats)) == SONDE__LINK_ITEM) {
        require_progress(&before, &scan);
        before = scan;
    }
    require(scan.at >= before.at && scan.at <= scan.end);
    require(step != SONDE__LINK_MORE || scan.at == scan.end);
    return 0;
}
