/* SPDX-License-Identifier: Apache-2.0 */
/* sonde recover: finishes the sessions of processes that died. */
#include "analysis/analysis.h"
#include "base/json_write.h"
#include "cli/command.h"
#include "cli/output.h"
#include "sonde/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct progress {
    bool json;
    size_t done;
    size_t alive;
    size_t refused;
    char (*journals)[sizeof((sonde_recovery *)NULL)->journal]; /* that were finished */
    size_t journal_count;
} progress;

static void report_json(const sonde_recovery *what)
{
    sonde__buf out;
    sonde__json json;
    sonde__buf_init(&out, SONDE__OUTPUT_MAX);
    sonde__json_init(&json, &out);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "segment");
    sonde__json_string(&json, what->segment);
    sonde__json_key(&json, "journal");
    what->journal[0] != '\0' ? sonde__json_string(&json, what->journal) : sonde__json_null(&json);
    sonde__json_key(&json, "pid");
    sonde__json_uint(&json, what->pid);
    sonde__json_key(&json, "status");
    sonde__json_string(&json, sonde_status_name(what->status));
    sonde__json_key(&json, "reason");
    what->reason[0] != '\0' ? sonde__json_string(&json, what->reason) : sonde__json_null(&json);
    sonde__json_key(&json, "records");
    sonde__json_uint(&json, what->records);
    sonde__json_key(&json, "open");
    sonde__json_uint(&json, what->open);
    sonde__json_key(&json, "lost");
    sonde__json_uint(&json, what->lost);
    sonde__json_end_object(&json);
    sonde__buf_char(&out, '\n');
    sonde__output_write(out.data, out.len);
    sonde__buf_free(&out);
}

static void report_text(const sonde_recovery *what)
{
    if (what->status == SONDE_OK && what->reason[0] != '\0')
        printf("%s: process %u: %s (%llu records)\n", what->journal, what->pid, what->reason,
               (unsigned long long)what->lost);
    else if (what->status == SONDE_OK && what->journal[0] != '\0')
        printf("%s: process %u had %llu records and %llu open tasks left (%llu lost)\n",
               what->journal, what->pid, (unsigned long long)what->records,
               (unsigned long long)what->open, (unsigned long long)what->lost);
    else if (what->status != SONDE_OK && what->status != SONDE_EBUSY)
        printf("%s: not recovered: %s\n", what->segment, what->reason);
}

static void remember(progress *p, const sonde_recovery *what)
{
    void *grown = realloc(p->journals, (p->journal_count + 1) * sizeof *p->journals);
    if (!grown)
        return;
    p->journals = grown;
    memcpy(p->journals[p->journal_count++], what->journal, sizeof what->journal);
}

/* The log and the summary of sessions that are complete now. Those of processes that joined have
   none beside them. */
static void finish_files(const progress *p)
{
    static sonde__analysis analysis;
    for (size_t i = 0; i < p->journal_count; i++) {
        bool wrote = false;
        if (sonde__analyze(p->journals[i], 1, &analysis) == SONDE_OK && analysis.have_json)
            (void)sonde__analysis_rebuild(&analysis, &wrote); /* the folder may be read-only */
        if (wrote && !p->json)
            printf("%s: finished its log and summary\n", p->journals[i]);
        sonde__analysis_free(&analysis);
    }
}

static void report(void *user, const sonde_recovery *what)
{
    progress *p = user;
    if (what->status == SONDE_OK && what->journal[0] != '\0')
        remember(p, what);
    if (what->status == SONDE_OK)
        p->done++;
    else if (what->status == SONDE_EBUSY)
        p->alive++;
    else
        p->refused++;
    p->json ? report_json(what) : report_text(what);
}

static int recover_run(const sonde__args *args)
{
    progress p = {.json = sonde__args_has(args, "--json")};
    const char *dir = args->operands > 0 ? args->operand[0] : NULL;
    sonde_status status = sonde__args_has(args, "--discard")
                              ? sonde_recover_discard(dir, report, &p)
                              : sonde_recover(dir, report, &p);
    finish_files(&p);
    free(p.journals);
    if (status != SONDE_OK) {
        sonde__command_error(args->command, "%s: %s", dir ? dir : "sessions of this user",
                             sonde_status_text(status));
        return SONDE__EXIT_FAILED;
    }
    if (!p.json && p.done + p.refused == 0)
        printf("nothing to recover%s\n", p.alive > 0 ? "; running sessions were left alone" : "");
    return p.refused > 0 ? SONDE__EXIT_FAILED : SONDE__EXIT_OK;
}

static const sonde__option recover_options[] = {
    {"--discard", NULL, "remove what is left of sessions whose folder is gone, too"},
    {"--json", NULL, "one JSON object per segment, the running ones too"},
    {NULL, NULL, NULL},
};

static const sonde__example recover_examples[] = {
    {"recover", "finishes every session whose process is gone"},
    {"recover telemetry", "only those that write into this folder"},
    {NULL, NULL},
};

const sonde__command sonde__command_recover = {
    .name = "recover",
    .operands = "[DIR]",
    .summary = "finish sessions whose process died",
    .about =
        "Commands that read a session do this by themselves. What a process had recorded and not "
        "yet\n"
        "written when it died is in shared memory; it is put into the session's journal, with the\n"
        "tasks that were open, and the CSV log and the summary are completed from it. Running\n"
        "processes are left alone. Where the journal was deleted, what is left of it is removed.\n"
        "Exit code 1 when something could not be recovered.",
    .options = recover_options,
    .examples = recover_examples,
    .operands_max = 1,
    .run = recover_run,
};
