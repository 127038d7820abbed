/* SPDX-License-Identifier: Apache-2.0 */
/* sonde dump: the records of a session as JSON Lines, in Flowcept's shape. */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/session_arg.h"
#include "sonde/reader.h"
#include "view/flowcept_json.h"

#include <stdio.h>
#include <string.h>

enum { FLUSH_BYTES = 64 << 10 };
#define FOLLOW_WAIT_NS 200000000u

/* Lines collected, written when they are many. */
static bool put(sonde__buf *lines, size_t when)
{
    if (lines->len <= when)
        return true;
    bool written = sonde__output_write(lines->data, lines->len) && fflush(stdout) == 0;
    sonde__buf_clear(lines);
    return written;
}

/* Everything there is now. False: stdout is gone. */
static bool dump_all(sonde_reader *reader, sonde__buf *lines)
{
    sonde_record record;
    while (sonde_reader_next(reader, &record) == SONDE_OK) {
        sonde__flowcept_json(&record, lines);
        if (!put(lines, FLUSH_BYTES))
            return false;
    }
    return put(lines, 0);
}

/* True while a process of the session may still write. */
static bool anybody_running(const sonde_reader *reader)
{
    for (size_t i = 0; i < sonde_reader_run_count(reader); i++)
        if (sonde_reader_run(reader, i)->ended_wall_ns == 0)
            return true;
    return sonde_reader_run_count(reader) == 0;
}

static void warn(const sonde__args *args, const sonde_reader *reader)
{
    sonde_reader_stats stats;
    sonde_reader_stats_get(reader, &stats);
    if (stats.lost > 0)
        sonde__command_error(args->command, "%llu records were lost while recording, and counted",
                             (unsigned long long)stats.lost);
    if (stats.missing > 0)
        sonde__command_error(args->command, "%llu records are missing",
                             (unsigned long long)stats.missing);
    if (stats.compressed > 0)
        sonde__command_error(args->command,
                             "%llu frames are compressed and cannot be read: there is no "
                             "libzstd.so.1 here; install libzstd (Debian: libzstd1)",
                             (unsigned long long)stats.compressed);
    if (stats.bad_bytes > 0)
        sonde__command_error(args->command, "%llu bytes were not readable and passed over",
                             (unsigned long long)stats.bad_bytes);
}

static int dump_run(const sonde__args *args)
{
    if (args->operands == 0) {
        sonde__command_error(args->command, "which session? see: sonde dump --help");
        return SONDE__EXIT_USAGE;
    }
    sonde_reader *reader = sonde__open_session(args);
    if (!reader)
        return SONDE__EXIT_FAILED;
    sonde__buf lines;
    sonde__buf_init(&lines, SONDE__OUTPUT_MAX);
    bool alive = dump_all(reader, &lines);
    if (sonde__args_has(args, "--follow"))
        while (alive && anybody_running(reader))
            if (sonde_reader_follow(reader, FOLLOW_WAIT_NS) == SONDE_OK)
                alive = dump_all(reader, &lines);
    sonde__buf_free(&lines);
    warn(args, reader);
    sonde_reader_close(reader);
    return alive ? SONDE__EXIT_OK : SONDE__EXIT_FAILED;
}

static const sonde__option dump_options[] = {
    {"--follow", NULL, "go on with what is recorded from now on, until the session ends"},
    {NULL, NULL, NULL},
};

static const sonde__example dump_examples[] = {
    {"dump telemetry/train.sonde", "every task and workflow, one JSON object a line"},
    {"dump --follow telemetry/train.sonde", "the same while it runs"},
    {NULL, NULL},
};

const sonde__command sonde__command_dump = {
    .name = "dump",
    .operands = "FILE",
    .summary = "print a session's records as JSON Lines",
    .about =
        "FILE is the NAME.sonde of a session; the files of processes that joined it are read "
        "too.\nRecords come in order of the time they were made, in Flowcept's task and "
        "workflow shape;\nwhat Flowcept has no key for is under \"sonde\". What a dead process "
        "left is recovered first.",
    .options = dump_options,
    .examples = dump_examples,
    .operands_max = 1,
    .run = dump_run,
};
