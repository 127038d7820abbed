/* SPDX-License-Identifier: Apache-2.0 */
/* A program that records, for tests that run it under strace: DIR NAME BOARD TASKS
   [durable|stop|last]. The
   counts of what has ended are in the file BOARD. */
#include "record_load.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    int fd = open(argv[3], O_RDWR);
    load_board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || board == MAP_FAILED)
        return 3;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = argv[1];
    const char *mode = argc > 5 ? argv[5] : "";
    if (strcmp(mode, "durable") == 0)
        options.safety = SONDE_SAFETY_DURABLE;
    if (strcmp(mode, "stop") == 0 || strcmp(mode, "last") == 0) {
        options.part_bytes = 64 << 10;
        options.bytes_max = 1 << 20;
        options.when_full = mode[0] == 's' ? SONDE_FULL_STOP : SONDE_FULL_KEEP_LAST;
    }
    options.drain_interval_ns = 2000000;
    options.full_wait_ns = 30000000000u;
    sonde_session *session = NULL;
    if (sonde_open(argv[2], &options, &session) != SONDE_OK)
        return 4;
    load_run(board, 2, strtoull(argv[4], NULL, 10));
    sonde_close(session);
    return 0;
}
