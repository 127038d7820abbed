/* SPDX-License-Identifier: Apache-2.0 */
/* Network counters from /proc/net/dev: two header lines, then "name: 8 received 8 sent". Used for
   recorded machines and where netlink is not available. */
#include "capture/net_rows.h"
#include "capture/parsers.h"
#include "capture/row_names.h"
#include "capture/source.h"

enum { COLUMNS = 16 };

static bool is_header(const sonde__scan *line)
{
    return memchr(line->at, '|', (size_t)(line->end - line->at)) != NULL;
}

/* "  eth0: " up to and with the last colon: aliases (eth0:1) hold one themselves. */
static bool scan_name(sonde__scan *line, sonde__net_line *out)
{
    sonde__scan_blanks(line);
    const char *colon = memrchr(line->at, ':', (size_t)(line->end - line->at));
    if (!colon || colon == line->at || colon - line->at >= SONDE__NET_NAME_BYTES)
        return false;
    out->name = line->at;
    out->name_len = (size_t)(colon - line->at);
    line->at = colon + 1;
    return true;
}

bool sonde__net_dev_next(sonde__scan *scan, sonde__net_line *out)
{
    static const unsigned from[SONDE__NET_COUNTERS] = {8, 0, 9, 1, 2, 10, 3, 11};
    sonde__scan line;
    do {
        if (scan->at == scan->end)
            return false;
        *out = (sonde__net_line){.name = scan->at, .garbled = true};
        if (!sonde__scan_line(scan, &line)) { /* cut off */
            scan->at = scan->end;
            return true;
        }
    } while (is_header(&line));
    if (!scan_name(&line, out))
        return true;
    uint64_t column[COLUMNS] = {0};
    unsigned count = 0;
    while (count < COLUMNS && sonde__scan_uint(&line, &column[count]))
        count++;
    out->garbled = count < COLUMNS;
    for (unsigned i = 0; i < SONDE__NET_COUNTERS; i++)
        out->counter[i] = column[from[i]];
    return true;
}

typedef struct net_dev_state {
    sonde__names names; /* of the rows */
} net_dev_state;

static sonde_status add_named_row(net_dev_state *state, const sonde__net_line *line,
                                  sonde__rows *rows)
{
    if (!sonde__names_put(&state->names, rows->count, line->name, line->name_len))
        return SONDE_ENOMEM;
    return sonde__net_row_add(rows, "", line->counter, line->garbled ? SONDE_EBADDATA : SONDE_OK);
}

static sonde_status net_dev_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    net_dev_state *state = opaque;
    sonde_status status = SONDE_OK;
    bool want_rows = host->level == SONDE_LEVEL_FULL;
    sonde__rows *rows = &out->table[SONDE_TABLE_INTERFACES];
    sonde__net_sum sum = {0};
    sonde__scan scan = sonde__scan_of(host->text.data, host->text.len);
    sonde__net_line line;
    while (sonde__net_dev_next(&scan, &line)) {
        sonde__net_sum_add(&sum, line.counter);
        sum.garbled |= line.garbled;
        if (status == SONDE_OK && want_rows && line.name_len > 0 &&
            (line.garbled || sonde__net_is_used(line.counter)))
            status = add_named_row(state, &line, rows);
    }
    sonde__names_apply(&state->names, rows);
    if (want_rows)
        rows->status = status;
    sonde__net_sum_store(&sum, out);
    return status;
}

static void net_dev_close(void *opaque)
{
    net_dev_state *state = opaque;
    sonde__names_free(&state->names);
}

const sonde__source sonde__source_proc_net_dev = {
    .name = "proc_net_dev",
    .summary = "network counters, in all and per interface",
    .remedy = "mount procfs at /proc",
    .types = SONDE_CAPTURE_NETWORK,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_NETWORK_BYTES_SENT, SONDE_FIELD_NETWORK_DROPOUT}},
    .file = "/proc/net/dev",
    .file_kind = SONDE__FILE_LINES,
    .state_bytes = sizeof(net_dev_state),
    .read = net_dev_read,
    .close = net_dev_close,
};
