/* SPDX-License-Identifier: Apache-2.0 */
/* Any text: masking ends, keeps what is plain, and finds nothing in what it has masked. Masking the
   same bytes as arguments keeps their number. */
#include "fuzz.h"

#include "base/mask.h"

#include <stdlib.h>

enum { MASKED_BYTES_MAX = 1 << 24 };

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check_text(const char *text, size_t len)
{
    sonde__buf once, twice;
    sonde__buf_init(&once, MASKED_BYTES_MAX);
    sonde__buf_init(&twice, MASKED_BYTES_MAX);
    sonde__mask_text(text, len, &once);
    sonde__mask_text(once.data, once.len, &twice);
    require(once.status == SONDE_OK && twice.status == SONDE_OK);
    bool masked = once.len != len || (len > 0 && memcmp(once.data, text, len) != 0);
    require(!masked || memmem(once.data, once.len, SONDE__MASK, 3) != NULL);
    sonde__buf_free(&once);
    sonde__buf_free(&twice);
}

static void check_arguments(const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    require(copy != NULL);
    memcpy(copy, text, len);
    copy[len] = '\0';
    size_t count = 1, ends = 0;
    for (size_t i = 0; i < len; i++)
        count += copy[i] == '\0';
    sonde__buf out;
    sonde__buf_init(&out, MASKED_BYTES_MAX);
    sonde__mask_arguments(copy, count, &out);
    for (size_t i = 0; i < out.len; i++)
        ends += out.data[i] == '\0';
    require(out.status == SONDE_OK && ends == count);
    sonde__buf_free(&out);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char none = '\0';
    const char *text = size ? (const char *)data : &none;
    check_text(text, size);
    check_arguments(text, size);
    return 0;
}
