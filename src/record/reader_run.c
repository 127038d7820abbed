/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader knows about the processes of a session, and which tasks they left open. */
#include "record/reader_impl.h"

#include "base/ids.h"

#include <stdlib.h>
#include <string.h>

/* A copy that lives as long as the run, NUL-terminated; NULL when there is no memory. */
static char *keep(sonde__run_info *info, const char *data, size_t len)
{
    char **grown = realloc(info->texts, (info->text_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    info->texts = grown;
    char *copy = malloc(len + 1);
    if (!copy)
        return NULL;
    if (len > 0)
        memcpy(copy, data, len);
    copy[len] = '\0';
    info->texts[info->text_count++] = copy;
    return copy;
}

static void keep_attr(sonde__run_info *info, const sonde_attr *attr)
{
    void *attrs = info->attrs;
    if (info->run.attr_count >= SONDE__ATTRS_MAX ||
        !sonde__grow(&attrs, &info->attr_cap, info->run.attr_count, sizeof *attr))
        return;
    info->attrs = attrs;
    sonde_attr copy = *attr;
    copy.key = keep(info, attr->key, attr->key_len);
    if (attr->type >= SONDE_ATTR_STRING)
        copy.value.s.data = keep(info, attr->value.s.data, attr->value.s.len);
    if (!copy.key)
        return;
    info->attrs[info->run.attr_count++] = copy;
    info->run.attrs = info->attrs;
}

static const char **text_field(sonde_run *run, unsigned key)
{
    switch (key) {
    case SONDE__RUN_SESSION_NAME:
        return &run->session_name;
    case SONDE__RUN_WORKFLOW_NAME:
        return &run->workflow_name;
    case SONDE__RUN_SUBTYPE:
        return &run->workflow_subtype;
    case SONDE__RUN_PARENT_WORKFLOW:
        return &run->parent_workflow_id;
    case SONDE__RUN_CAMPAIGN:
        return &run->campaign_id;
    case SONDE__RUN_USER:
        return &run->user;
    case SONDE__RUN_HOST:
        return &run->host;
    case SONDE__RUN_VERSION:
        return &run->version;
    case SONDE__RUN_SEGMENT:
        return &run->segment;
    case SONDE__RUN_ERROR:
        return &run->error;
    default:
        return NULL;
    }
}

static void read_bytes(sonde__run_info *info, unsigned key, const char *data, size_t len)
{
    const char **field = text_field(&info->run, key);
    uint64_t halves[2];
    if (field) {
        *field = keep(info, data, len);
    } else if (key == SONDE__RUN_TRACE && len == sizeof halves) {
        memcpy(halves, data, len);
        info->run.trace_hi = halves[0];
        info->run.trace_lo = halves[1];
    } else if (key == SONDE__RUN_BOOT_ID && len == sizeof halves) {
        char hex[33] = "";
        memcpy(halves, data, len);
        sonde__id_to_hex(halves[0], hex);
        sonde__id_to_hex(halves[1], hex + 16);
        info->run.boot_id = keep(info, hex, 32);
    }
}

static void read_uint(sonde__run_info *info, unsigned key, uint64_t value)
{
    sonde_run *run = &info->run;
    switch (key) {
    case SONDE__RUN_PID:
        run->pid = (uint32_t)value;
        break;
    case SONDE__RUN_OPENER:
        run->opener = value != 0;
        break;
    case SONDE__RUN_PARENT_SPAN:
        run->parent = value;
        break;
    case SONDE__RUN_STARTED:
        run->started_wall_ns = value;
        break;
    case SONDE__RUN_ENDED:
        run->ended_wall_ns = value;
        break;
    case SONDE__RUN_STATUS:
        run->status = value <= SONDE_ERROR ? (sonde_task_status)value : SONDE_UNKNOWN;
        break;
    case SONDE__RUN_STATE:
        run->state = value <= SONDE_RUN_LOST ? (sonde_run_state)value : SONDE_RUN_LOST;
        break;
    case SONDE__RUN_SIGNAL_LOST:
        info->signal_lost = value;
        break;
    case SONDE__RUN_ATTRS_LEFT_OUT:
        run->attrs_left_out += value; /* of the start, of the end */
        break;
    default:
        break;
    }
}

void sonde__run_info_read(sonde__run_info *info, const sonde__decoder *decoder,
                          const sonde__entry *entry)
{
    const uint8_t *at = entry->attrs;
    const uint8_t *end = at + entry->attrs_len;
    sonde__decoded_attr attr;
    while (at && sonde__decode_attr(decoder, &at, end, &attr)) {
        if (attr.system == 0)
            keep_attr(info, &attr.attr);
        else if (attr.type == SONDE_ATTR_UINT)
            read_uint(info, attr.system, attr.attr.value.u);
        else if (attr.type >= SONDE_ATTR_STRING && attr.type <= SONDE_ATTR_JSON)
            read_bytes(info, attr.system, attr.attr.value.s.data, attr.attr.value.s.len);
    }
}

void sonde__run_info_machine(sonde__run_info *info, const char *text, size_t len)
{
    if (!info->run.machine_info && len > 0 && memchr(text, '\0', len) == NULL)
        info->run.machine_info = keep(info, text, len);
}

void sonde__run_info_free(sonde__run_info *info)
{
    for (size_t i = 0; i < info->text_count; i++)
        free(info->texts[i]);
    free(info->texts);
    free(info->attrs);
}

void sonde__open_ids_add(sonde__open_ids *open, uint64_t id)
{
    void *ids = open->ids;
    if (!sonde__grow(&ids, &open->cap, open->count, sizeof *open->ids))
        return;
    open->ids = ids;
    open->ids[open->count].id = id;
    open->ids[open->count++].ended = false;
    open->sorted = false;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x;
    uint64_t y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static bool *find_open(sonde__open_ids *open, uint64_t id)
{
    if (open->count == 0)
        return NULL;
    if (!open->sorted)
        qsort(open->ids, open->count, sizeof *open->ids, by_id);
    open->sorted = true;
    void *found = bsearch(&id, open->ids, open->count, sizeof *open->ids, by_id);
    return found ? (bool *)((char *)found + sizeof id) : NULL;
}

void sonde__open_ids_end(sonde__open_ids *open, uint64_t id)
{
    bool *ended = find_open(open, id);
    if (ended)
        *ended = true;
}

bool sonde__open_ids_ended(sonde__open_ids *open, uint64_t id)
{
    const bool *ended = find_open(open, id);
    return ended && *ended;
}
