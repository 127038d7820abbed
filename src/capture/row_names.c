/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/row_names.h"

#include <stdlib.h>
#include <string.h>

bool sonde__names_put(sonde__names *names, size_t index, const char *text, size_t len)
{
    if (index >= names->cap) {
        size_t cap = names->cap ? names->cap * 2 : 16;
        char(*grown)[SONDE__NAME_BYTES] = realloc(names->name, cap * sizeof *grown);
        if (!grown)
            return false;
        names->name = grown;
        names->cap = cap;
    }
    if (len >= SONDE__NAME_BYTES)
        len = SONDE__NAME_BYTES - 1;
    memcpy(names->name[index], text, len);
    names->name[index][len] = '\0';
    return true;
}

void sonde__names_apply(const sonde__names *names, sonde__rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        rows->row[i].name = names->name[i];
}

void sonde__names_free(sonde__names *names)
{
    free(names->name);
    *names = (sonde__names){0};
}
