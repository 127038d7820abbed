/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation on the way from the journal to the log and the summary fails, once and from then
   on: no crash, no leak (the sanitizer build sees that), and never a log that lacks rows beside a
   summary that says nothing of it. */
#include "../refuse_alloc.h"
#include "sonde/sonde.h"
#include "view/session_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TASKS = 3000 };

static long allowance = -1; /* allocations that still succeed; below 0: all do */
static bool persistent;     /* none does after the first that failed */
static bool failed;

static bool refuse(void)
{
    if (allowance < 0 || (failed && !persistent))
        return false;
    if (!failed && allowance-- > 0)
        return false;
    allowance = 0;
    failed = true;
    return true;
}

static char folder[] = "/tmp/sonde_test_XXXXXX";
static char journal[128], csv[128], json[128];

static int record_session(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    sonde_session *session;
    options.dir = mkdtemp(folder);
    options.journal_only = 1;
    options.join = 0;
    if (!options.dir || sonde_open("alloc", &options, &session) != SONDE_OK)
        return 1;
    for (int i = 0; i < TASKS; i++) {
        sonde_task task = sonde_task_begin(SONDE_NAME("work"));
        sonde_task_layer(task, i % 7);
        sonde_task_end(task);
    }
    sonde_close(session);
    snprintf(journal, sizeof journal, "%s/alloc.sonde", folder);
    snprintf(csv, sizeof csv, "%s/alloc.csv", folder);
    snprintf(json, sizeof json, "%s/alloc.json", folder);
    return 0;
}

static int remove_session(void **state)
{
    (void)state;
    unlink(journal);
    unlink(csv);
    unlink(json);
    return rmdir(folder);
}

static char text[1 << 20];

static const char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    size_t got = fread(text, 1, sizeof text - 1, file);
    text[got] = '\0';
    fclose(file);
    return text;
}

static size_t rows_written(void)
{
    size_t lines = 0;
    const char *at = read_text(csv);
    assert_non_null(at);
    size_t len = strlen(at);
    assert_true(len > 0 && at[len - 1] == '\n'); /* rows are whole */
    for (; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    return lines - 1;
}

/* True when the summary claims that all is well. */
static bool claims_all(void)
{
    const char *said = read_text(json);
    return said && strstr(said, "\"state\": \"finished\"") && strstr(said, "\"missing\": 0") &&
           !strstr(said, "csv_rows_missing");
}

/* With the given number of allocations. False: none failed, so the sweep is over. */
static bool try_with(long allowed)
{
    sonde__session_files *files;
    sonde__session_files_stats stats;
    unlink(csv);
    unlink(json);
    failed = false;
    allowance = allowed;
    sonde_status status = sonde__session_files_open(journal, &files);
    if (status == SONDE_OK)
        sonde__session_files_close(files, &stats);
    bool hit = failed;
    allowance = -1;
    if (status != SONDE_OK) {
        assert_int_equal(status, SONDE_ENOMEM);
        assert_int_not_equal(access(csv, F_OK), 0);
        return true;
    }
    if (rows_written() != TASKS)
        assert_false(claims_all());
    else if (!hit)
        assert_true(claims_all());
    return hit;
}

static void sweep(bool from_then_on)
{
    long n = 0;
    persistent = from_then_on;
    while (try_with(n))
        n++;
    assert_true(n > 10);
}

static void test_once(void **state)
{
    (void)state;
    sweep(false);
}

static void test_from_then_on(void **state)
{
    (void)state;
    sweep(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_from_then_on),
    };
    return cmocka_run_group_tests(tests, record_session, remove_session);
}
