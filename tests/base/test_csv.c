/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_read.h"
#include "base/csv_write.h"
#include "base/number_format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The first record of text, its fields joined by '|'; used gets the bytes of it. */
static const char *parse(const char *text, bool final, size_t *used)
{
    static char copy[4096], joined[4096];
    static sonde__csv_row row;
    size_t len = strlen(text), at = 0;
    memcpy(copy, text, len);
    *used = sonde__csv_parse(copy, len, final, &row);
    for (unsigned i = 0; *used && i < row.count && i < SONDE__CSV_FIELDS_MAX; i++) {
        if (i > 0)
            joined[at++] = '|';
        memcpy(joined + at, row.field[i].text, row.field[i].len);
        at += row.field[i].len;
    }
    if (*used && row.damaged)
        joined[at++] = '!';
    joined[at] = '\0';
    return joined;
}

static void check(const char *text, const char *fields, size_t used)
{
    size_t got;
    assert_string_equal(parse(text, true, &got), fields);
    assert_int_equal(got, used);
}

static void cuts_records(void **state)
{
    (void)state;
    check("a,b,c\nd", "a|b|c", 6);
    check("a,b,c\r\nd", "a|b|c", 7);
    check("a,b,c", "a|b|c", 5);
    check(",,\n", "||", 3);
    check("\n", "", 1);
    check("a\r", "a", 2);
    check("a\rb,c\n", "a\rb|c", 6);
}

static void decodes_quotes(void **state)
{
    (void)state;
    check("\"a,b\",c\n", "a,b|c", 8);
    check("\"a\"\"b\"\n", "a\"b", 7);
    check("\"\"\"\"\n", "\"", 5);
    check("x,\"l1\nl2\"\r\nnext", "x|l1\nl2", 11);
    check("\"\",\"\"", "|", 5);
    check("a\"b,c\n", "a\"b|c", 6); /* a quote inside a field is just that */
}

static void damage_stays_in_its_line(void **state)
{
    (void)state;
    check("a,\"b\nc,d\n", "a|\"b!", 5);     /* never closed */
    check("\"a\"b,c\nd\n", "\"a\"b|c!", 7); /* closed too early */
    check("\"", "\"!", 1);
}

static void waits_for_the_rest(void **state)
{
    (void)state;
    static const char text[] = "1,\"two \"\"2\"\"\r\n\",three\r\n";
    size_t used;
    for (size_t len = 0; len < sizeof text - 1; len++) {
        char part[sizeof text];
        memcpy(part, text, len);
        part[len] = '\0';
        parse(part, false, &used);
        assert_int_equal(used, 0);
    }
    assert_string_equal(parse(text, false, &used), "1|two \"2\"\r\n|three");
    assert_int_equal(used, sizeof text - 1);
}

static void counts_fields_beyond_the_limit(void **state)
{
    (void)state;
    char text[400];
    sonde__csv_row row;
    memset(text, ',', 199);
    text[199] = '\n';
    assert_int_equal(sonde__csv_parse(text, 200, true, &row), 200);
    assert_int_equal(row.count, 200);
}

static void reads_back_what_it_writes(void **state)
{
    (void)state;
    static const char *const texts[] = {"plain", "",   "a,b", "say \"hi\"", "two\nlines", "\r",
                                        "é",     "\"", ",",   "\"\"\"",     "x\"y,z\n"};
    enum { COUNT = sizeof texts / sizeof *texts };
    sonde__buf buf;
    sonde__csv_row row;
    sonde__buf_init(&buf, 4096);
    for (size_t i = 0; i < COUNT; i++) {
        if (i > 0)
            sonde__buf_char(&buf, ',');
        sonde__csv_text(&buf, texts[i], strlen(texts[i]));
    }
    sonde__buf_char(&buf, '\n');
    assert_int_equal(sonde__csv_parse(buf.data, buf.len, false, &row), buf.len);
    assert_int_equal(row.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(row.field[i].len, strlen(texts[i]));
        assert_memory_equal(row.field[i].text, texts[i], row.field[i].len);
    }
    sonde__buf_free(&buf);
}

/* Texts are looked at in words: each special byte at each place of each length, and none. */
static void quotes_wherever_it_must(void **state)
{
    (void)state;
    enum { LONGEST = 40 };
    for (size_t len = 0; len <= LONGEST; len++) {
        char text[LONGEST + 1], out[2 * LONGEST + 2];
        memset(text, 'x', sizeof text);
        assert_int_equal(sonde__csv_text_to(out, text, len), len);
        assert_memory_equal(out, text, len);
        for (size_t at = 0; at < len; at++) {
            for (const char *special = ",\"\n\r"; *special; special++) {
                text[at] = *special;
                size_t doubled = *special == '"';
                assert_int_equal(sonde__csv_text_to(out, text, len), len + 2 + doubled);
                assert_int_equal(out[0], '"');
                assert_memory_equal(out + 1, text, at + 1);
                assert_memory_equal(out + 1 + at + doubled, text + at, len - at);
                assert_int_equal(out[len + 1 + doubled], '"');
            }
            text[at] = 'x';
        }
    }
}

static void formats_decimals(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        unsigned decimals;
        const char *text;
    } cases[] = {
        {0, 6, "0.000000"},   {1, 6, "0.000001"}, {1763318011250000, 6, "1763318011.250000"},
        {12850, 2, "128.50"}, {5, 1, "0.5"},      {UINT64_MAX, 9, "18446744073.709551615"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[SONDE__DECIMAL_TEXT_MAX + 1];
        size_t len = sonde__format_decimal(cases[i].value, cases[i].decimals, text);
        text[len] = '\0';
        assert_true(len <= SONDE__DECIMAL_TEXT_MAX);
        assert_string_equal(text, cases[i].text);
    }
}

static void write_file(const char *path, size_t long_line, size_t rows)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("first,row\n", file);
    for (size_t i = 0; i < long_line; i++)
        fputc('x', file);
    fputc('\n', file);
    for (size_t i = 0; i < rows; i++)
        fprintf(file, "%zu,\"quoted, %zu\"\n\n", i, i);
    fclose(file);
}

/* Rows across the edges of the window, around a line of several megabytes that is not kept. */
static void reads_files_in_flat_memory(void **state)
{
    (void)state;
    char path[] = "/tmp/sonde_csv_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_file(path, 5000000, 40000);
    sonde__csv_file file;
    sonde__csv_row row;
    assert_int_equal(sonde__csv_open(&file, path), SONDE_OK);
    size_t rows = 0;
    sonde_status status;
    while ((status = sonde__csv_next(&file, &row)) == SONDE_OK) {
        assert_int_equal(row.count, 2);
        rows++;
    }
    assert_int_equal(status, SONDE_EEND);
    assert_int_equal(rows, 40001);
    assert_int_equal(file.too_long, 1);
    assert_true(file.cap <= SONDE__CSV_RECORD_MAX);
    sonde__csv_close(&file);
    unlink(path);
    assert_int_equal(sonde__csv_open(&file, path), SONDE_EABSENT);
    assert_int_equal(sonde__csv_open(&file, "/tmp"), SONDE_EBADDATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_records),
        cmocka_unit_test(decodes_quotes),
        cmocka_unit_test(damage_stays_in_its_line),
        cmocka_unit_test(waits_for_the_rest),
        cmocka_unit_test(counts_fields_beyond_the_limit),
        cmocka_unit_test(reads_back_what_it_writes),
        cmocka_unit_test(quotes_wherever_it_must),
        cmocka_unit_test(formats_decimals),
        cmocka_unit_test(reads_files_in_flat_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
