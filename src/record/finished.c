/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finished.h"

#include "base/clock.h"
#include "record/observer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has_text(const sonde_attr *attr)
{
    return attr->type == SONDE_ATTR_STRING || attr->type == SONDE_ATTR_BYTES ||
           attr->type == SONDE_ATTR_JSON;
}

static size_t key_len(const sonde_attr *attr)
{
    return attr->key_len ? attr->key_len : strlen(attr->key);
}

static char *put(char **to, const char *from, size_t len)
{
    char *copy = *to;
    if (len > 0)
        memcpy(copy, from, len);
    *to += len;
    return copy;
}

/* Attributes and their texts in one piece of memory. */
static sonde_attr *copy_attrs(const sonde_attr *attrs, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += key_len(&attrs[i]) + (has_text(&attrs[i]) ? attrs[i].value.s.len : 0);
    sonde_attr *copy = malloc(count * sizeof *copy + bytes);
    if (!copy)
        return NULL;
    char *to = (char *)(copy + count);
    for (size_t i = 0; i < count; i++) {
        copy[i] = attrs[i];
        copy[i].key_len = key_len(&attrs[i]);
        copy[i].key = put(&to, attrs[i].key, copy[i].key_len);
        if (has_text(&attrs[i]))
            copy[i].value.s.data = put(&to, attrs[i].value.s.data, attrs[i].value.s.len);
    }
    return copy;
}

void sonde__finished_keep(sonde__finished *kept, const char *settings, const sonde_attr *attrs,
                          size_t count)
{
    sonde__finished_free(kept);
    kept->settings = realpath(settings, NULL);
    if (!kept->settings)
        return;
    kept->started_wall_ns = sonde__clock_wall_ns();
    kept->attrs = count > 0 ? copy_attrs(attrs, count) : NULL;
    kept->attr_count = kept->attrs ? count : 0;
}

void sonde__finished_tell(sonde__finished *kept, sonde_run *run, const char *dir,
                          const sonde_attr *attrs, size_t count)
{
    size_t all = kept->attr_count + count;
    sonde_attr *both = malloc((all ? all : 1) * sizeof *both);
    if (both) {
        if (kept->attr_count > 0)
            memcpy(both, kept->attrs, kept->attr_count * sizeof *both);
        for (size_t i = 0; i < count; i++) {
            both[kept->attr_count + i] = attrs[i];
            both[kept->attr_count + i].key_len = key_len(&attrs[i]);
        }
        run->started_wall_ns = kept->started_wall_ns;
        run->ended_wall_ns = sonde__clock_wall_ns();
        run->attrs = both;
        run->attr_count = all;
        sonde__workflow_finished(run, kept->settings, dir);
    }
    free(both);
    sonde__finished_free(kept);
}

void sonde__finished_free(sonde__finished *kept)
{
    free(kept->settings);
    free(kept->attrs);
    *kept = (sonde__finished){0};
}
