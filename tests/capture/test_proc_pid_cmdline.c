/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting as psutil does: at NUL, or at blanks for a program that wrote its title over its
   arguments (the text then does not end with NUL, or holds no other NUL). */
#include "parser_test.h"

enum { ARGUMENTS_MAX = 8 };

#define TEXT(literal) literal, sizeof(literal) - 1

static const struct {
    const char *text;
    size_t len;
    size_t count;
    const char *argument[ARGUMENTS_MAX];
} cases[] = {
    {TEXT(""), 0, {NULL}},
    {TEXT("cat\0"), 1, {"cat"}},
    {TEXT("cat\0/etc/hosts\0-n\0"), 3, {"cat", "/etc/hosts", "-n"}},
    {TEXT("sh\0-c\0a b c\0"), 3, {"sh", "-c", "a b c"}},
    {TEXT("a\0\0b\0\0"), 4, {"a", "", "b", ""}},
    {TEXT("\0"), 1, {""}},
    {TEXT("\0\0\0"), 3, {"", "", ""}},
    {TEXT("nginx: worker process\0"), 3, {"nginx:", "worker", "process"}},
    {TEXT("nginx: worker process"), 3, {"nginx:", "worker", "process"}},
    {TEXT("title "), 1, {"title"}},
    {TEXT(" "), 1, {""}},
    {TEXT("a  b"), 3, {"a", "", "b"}},
    {TEXT("one"), 1, {"one"}},
    {TEXT("\xff\xfe\0x\0"), 2, {"\xff\xfe", "x"}},
};

/* Splits in a block with exactly the one byte of room that the contract asks for. */
static char *split(const char *text, size_t len, size_t *count)
{
    char *copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    copy[len] = '!';
    *count = sonde__split_cmdline(copy, len);
    return copy;
}

static void splits_as_psutil_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t count;
        char *arguments = split(cases[i].text, cases[i].len, &count);
        assert_int_equal(count, cases[i].count);
        const char *at = arguments;
        for (size_t j = 0; j < count; j++, at += strlen(at) + 1)
            assert_string_equal(at, cases[i].argument[j]);
        free(arguments);
    }
}

/* Cause: a NUL before the end of a text split at blanks hid the last arguments. psutil keeps such
   a NUL inside an argument, which a C string cannot. */
static void nul_within_a_title_splits_too(void **state)
{
    (void)state;
    size_t count;
    char *arguments = split(TEXT("a\0b c"), &count);
    assert_int_equal(count, 3);
    assert_memory_equal(arguments, "a\0b\0c\0", 6);
    free(arguments);
}

/* Whatever is cut off, walking the arguments ends within the block. */
static void cut_text_stays_within_its_block(void **state)
{
    (void)state;
    const char text[] = "sh\0-c\0a b c\0 \0\0x y";
    for (size_t cut = 0; cut < sizeof text; cut++) {
        size_t count;
        char *arguments = split(text, cut, &count);
        const char *at = arguments;
        for (size_t i = 0; i < count; i++)
            at += strlen(at) + 1;
        assert_true(at <= arguments + cut + 1);
        free(arguments);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_as_psutil_does),
        cmocka_unit_test(nul_within_a_title_splits_too),
        cmocka_unit_test(cut_text_stays_within_its_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
