/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of diskstats, each against the one before by the naming rule, and a block stat file. */
#include "fuzz_parser.h"

static void check_partition(const sonde__disk_line *disk, const sonde__disk_line *line)
{
    if (!sonde__is_partition(line->name, line->name_len, disk->name, disk->name_len))
        return;
    require(disk->name_len > 0 && line->name_len > disk->name_len);
    require(memcmp(line->name, disk->name, disk->name_len) == 0);
    require(!sonde__is_partition(disk->name, disk->name_len, line->name, line->name_len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sonde__scan scan = sonde__scan_of((const char *)data, size), before = scan;
    sonde__disk_line line, previous = {.name = ""};
    while (sonde__diskstats_next(&scan, &line)) {
        require_progress(&before, &scan);
        require_inside(&before, line.name, line.name_len);
        require(line.name_len < SONDE__DISK_NAME_BYTES && (line.name_len > 0 || line.garbled));
        for (unsigned i = 0; line.garbled && i < SONDE__DISK_COUNTERS; i++)
            require(line.counter[i] == 0);
        check_partition(&previous, &line);
        previous = line;
        before = scan;
    }
    require(scan.at == scan.end);
    uint64_t counter[SONDE__DISK_COUNTERS];
    sonde_status status = sonde__parse_block_stat((const char *)data, size, counter);
    require(status == SONDE_EBADDATA ||
            (status == SONDE_OK && counter[2] % 512 == 0 && counter[3] % 512 == 0));
    return 0;
}
