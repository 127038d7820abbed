/* SPDX-License-Identifier: Apache-2.0 */
/* For tests added with sonde_alloc_test: each allocation of the program asks refuse(), which the
   test defines, and fails when that says so. */
#ifndef SONDE_TESTS_REFUSE_ALLOC_H
#define SONDE_TESTS_REFUSE_ALLOC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static bool refuse(void);

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);
int __wrap_asprintf(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return refuse() ? NULL : __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refuse() ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *text)
{
    return refuse() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
    return refuse() ? NULL : __real_strndup(text, len);
}

int __wrap_asprintf(char **out, const char *format, ...)
{
    if (refuse())
        return -1;
    va_list args;
    va_start(args, format);
    int len = vasprintf(out, format, args);
    va_end(args);
    return len;
}

#endif
