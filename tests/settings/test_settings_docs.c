/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys in docs/settings.md is made from the schema. On failure this prints the table
   that belongs there. */
#include "settings_test.h"

#include "base/buf.h"
#include "settings/settings_limits.h"
#include "settings/settings_schema.h"

static void write_default(const sonde__setting *row, sonde__buf *out)
{
    bool list = sonde__schema_is_list(row) && strcmp(row->standard, "~") != 0;
    sonde__buf_printf(out, list ? "`[%s]`" : "`%s`", row->standard);
}

static void write_row(const sonde__setting *row, sonde__buf *out)
{
    sonde__buf_printf(out, "| `%s` | %s | ", row->key, row->summary);
    sonde__schema_expected(row, out);
    if (row->type == SONDE__SETTING_NAMES) {
        sonde__buf_text(out, ", out of ");
        sonde__schema_expected_element(row, out);
    }
    sonde__buf_text(out, " | ");
    write_default(row, out);
    sonde__buf_text(out, " |\n");
}

static char *read_docs(void)
{
    static char text[65536];
    FILE *file = fopen(SONDE_SOURCE_DIR "/docs/settings.md", "r");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text - 1, file);
    assert_int_equal(fclose(file), 0);
    text[len] = '\0';
    return text;
}

static void the_table_of_keys_is_the_schema(void **state)
{
    (void)state;
    sonde__buf table;
    sonde__buf_init(&table, 65536);
    sonde__buf_text(&table, "| key | what it does | takes | default |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sonde__settings_row_count; i++)
        write_row(&sonde__settings_rows[i], &table);
    sonde__buf_text(&table, "\n");
    sonde__buf_char(&table, '\0');
    assert_int_equal(table.status, SONDE_OK);
    bool there = strstr(read_docs(), table.data) != NULL;
    if (!there)
        fprintf(stderr, "docs/settings.md does not hold this table:\n\n%s", table.data);
    sonde__buf_free(&table);
    assert_true(there);
}

static void the_blocks_passed_over_are_named(void **state)
{
    (void)state;
    const char *docs = read_docs();
    for (size_t i = 0; sonde__settings_foreign[i]; i++) {
        char name[64];
        snprintf(name, sizeof name, "`%s`", sonde__settings_foreign[i]);
        if (!strstr(docs, name))
            fail_msg("docs/settings.md does not name %s", name);
    }
}

/* The limits that docs/settings.md names. */
_Static_assert(SONDE__SETTINGS_FILE_BYTES == 1 << 20 && SONDE__SETTINGS_DEPTH == 16 &&
                   SONDE__SETTINGS_NODES == 10000,
               "docs/settings.md, What is refused");

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_keys_is_the_schema),
        cmocka_unit_test(the_blocks_passed_over_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
