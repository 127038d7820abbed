/* SPDX-License-Identifier: Apache-2.0 */
/* The tables in docs/capture.md are made from the field tables. On failure this prints the table
   that belongs there. */
#include "base/buf.h"
#include "sonde/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { DOCS_BYTES = 131072 };

static sonde_capture *handle[SONDE_LEVEL_COUNT];

static int open_handles(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SONDE_LEVEL_COUNT; i++) {
        sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
        options.level = (sonde_level)i;
        options.types = SONDE_CAPTURE_ALL;
        if (sonde_capture_open(&options, &handle[i]) != SONDE_OK)
            return -1;
    }
    return 0;
}

static int close_handles(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SONDE_LEVEL_COUNT; i++)
        sonde_capture_close(handle[i]);
    return 0;
}

static void expect_in_docs(sonde__buf *table)
{
    static char docs[DOCS_BYTES];
    FILE *file = fopen(SONDE_SOURCE_DIR "/docs/capture.md", "r");
    assert_non_null(file);
    size_t len = fread(docs, 1, sizeof docs - 1, file);
    assert_int_equal(fclose(file), 0);
    docs[len] = '\0';
    sonde__buf_char(table, '\0');
    assert_int_equal(table->status, SONDE_OK);
    bool there = strstr(docs, table->data) != NULL;
    if (!there)
        fprintf(stderr, "docs/capture.md does not hold this table:\n\n%s", table->data);
    sonde__buf_free(table);
    assert_true(there);
}

/* The lowest level at which the field is read for the process we run in. */
static const char *lowest_level(sonde_field field)
{
    for (unsigned i = 0; i < SONDE_LEVEL_COUNT; i++) {
        const sonde_telemetry *now;
        assert_int_equal(sonde_capture_read(handle[i], &now), SONDE_OK);
        if (sonde_telemetry_status(now, field) != SONDE_EOFF)
            return sonde_level_name((sonde_level)i);
    }
    return "never";
}

static void fields_are_documented(void **state)
{
    (void)state;
    sonde__buf table;
    sonde__buf_init(&table, DOCS_BYTES);
    sonde__buf_text(
        &table, "| field | unit | from level | read from | what it is |\n|---|---|---|---|---|\n");
    for (unsigned i = 0; i < SONDE_FIELD_COUNT; i++) {
        const sonde_field_info *info = sonde_field_describe((sonde_field)i);
        sonde__buf_printf(&table, "| `%s` | %s | %s | %s | %s |\n", info->path, info->unit,
                          lowest_level((sonde_field)i), info->source, info->summary);
    }
    expect_in_docs(&table);
}

static void lists_are_documented(void **state)
{
    (void)state;
    sonde__buf table;
    sonde__buf_init(&table, DOCS_BYTES);
    sonde__buf_text(&table, "| list | keys of each item | what it is |\n|---|---|---|\n");
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++) {
        const sonde_table_info *info = sonde_table_describe((sonde_table)i);
        sonde__buf_printf(&table, "| `%s%s.%s` | those of `%s` | %s |\n",
                          info->section >= SONDE_SECTION_CGROUP ? "sonde." : "",
                          sonde_section_name(info->section), info->key,
                          sonde_field_describe(info->first)->object, info->summary);
    }
    expect_in_docs(&table);
}

static void gpu_metrics_are_documented(void **state)
{
    (void)state;
    sonde__buf table;
    sonde__buf_init(&table, DOCS_BYTES);
    sonde__buf_text(&table, "| metric | unit | vendors | what it is |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < SONDE_GPU_METRIC_COUNT; i++) {
        const sonde_gpu_metric_info *info = sonde_gpu_describe((sonde_gpu_metric)i);
        bool nvidia = strchr(info->vendors, 'N') != NULL, amd = strchr(info->vendors, 'A') != NULL;
        sonde__buf_printf(&table, "| `%s%s%s` | %s | %s%s%s | %s |\n", info->object,
                          *info->object ? "." : "", info->key, info->unit, nvidia ? "NVIDIA" : "",
                          nvidia && amd ? ", " : "", amd ? "AMD" : "", info->summary);
    }
    expect_in_docs(&table);
}

static void reasons_are_documented(void **state)
{
    (void)state;
    sonde__buf table;
    sonde__buf_init(&table, DOCS_BYTES);
    sonde__buf_text(&table, "| reason | meaning |\n|---|---|\n");
    static const sonde_status reasons[] = {SONDE_EABSENT,      SONDE_EDENIED, SONDE_EBADDATA,
                                           SONDE_EUNSUPPORTED, SONDE_EEARLY,  SONDE_EGONE,
                                           SONDE_ENOMEM,       SONDE_ELIMIT,  SONDE_EIO};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        sonde__buf_printf(&table, "| `%s` | %s |\n", sonde_status_name(reasons[i]),
                          sonde_status_text(reasons[i]));
    expect_in_docs(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_documented),
        cmocka_unit_test(lists_are_documented),
        cmocka_unit_test(gpu_metrics_are_documented),
        cmocka_unit_test(reasons_are_documented),
    };
    return cmocka_run_group_tests(tests, open_handles, close_handles);
}
