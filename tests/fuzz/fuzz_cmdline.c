/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments, one behind the other, are the whole text but for its last byte. */
#include "fuzz_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    size_t count = sonde__split_cmdline(text, size);
    require((count == 0) == (size == 0));
    const char *at = text;
    for (size_t i = 0; i < count; i++)
        at += strnlen(at, size + 1 - (size_t)(at - text)) + 1;
    size_t used = (size_t)(at - text);
    require(used == (size == 0 ? 0 : size) || used == size + 1);
    free(text);
    return 0;
}
