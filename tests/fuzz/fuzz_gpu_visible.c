/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of visible devices: they end, and entries lie within the list. */
#include "fuzz.h"

#include "capture/gpu_visible.h"

#include <stdlib.h>
#include <string.h>

static void require(int truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *list = malloc(size + 1);
    require(list != NULL);
    memcpy(list, data, size);
    list[size] = '\0';
    size_t at = 0, entries = 0;
    sonde__visible item;
    while (sonde__visible_next(list, &at, &item)) {
        require(item.text >= list && item.text + item.len <= list + size && item.len > 0);
        require(at <= strlen(list) && ++entries <= size + 1);
        if (item.kind == SONDE__VISIBLE_ID) {
            sonde__visible_matches(&item, "");
            sonde__visible_matches(&item, "GPU-1f0a0000-0000-0000-0000-000000000000");
        }
    }
    free(list);
    return 0;
}
