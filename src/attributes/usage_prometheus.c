/* SPDX-License-Identifier: Apache-2.0 */
/* A map in Prometheus' text format. Names in the map are the original's; here the labeled ones get
   base-unit names, HELP and TYPE, and the flat ones, whose names are data, become a label. Label
   values are checked once more: a map filled in compat holds them unescaped. */
#include "attributes/datetime.h"
#include "attributes/usage_map.h"
#include "base/number_format.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

typedef struct family {
    const char *stored; /* in the map, before the brace or the end */
    const char *name;
    const char *type;
    const char *help;
} family;

static const family families[] = {
    {"tao_job_total", "sonde_usage_jobs_total", "counter", "Jobs that have ended."},
    {"tao_job_duration_sum", "sonde_usage_job_seconds_total", "counter", "Time that jobs took."},
    {"tao_job_gpu_time_sum", "sonde_usage_job_gpu_seconds_total", "counter",
     "Time that jobs took, times the GPUs they had."},
    {"tao_job_gpu_total", "sonde_usage_job_gpus_total", "counter", "GPUs that jobs had, by model."},
    {"time_lapsed_today", "sonde_usage_today_seconds", "gauge", "Time that jobs of today took."},
};

enum { FAMILIES = sizeof families / sizeof families[0], OTHER = FAMILIES };

static size_t base_len(const sonde__cell *cell)
{
    const char *brace = memchr(cell->key, '{', cell->key_len);
    return brace ? (size_t)(brace - cell->key) : cell->key_len;
}

static int family_of(const sonde__cell *cell)
{
    size_t len = base_len(cell);
    for (int i = 0; i < FAMILIES; i++) {
        if (strlen(families[i].stored) == len && memcmp(families[i].stored, cell->key, len) == 0)
            return i;
    }
    return OTHER;
}

static void write_value(const sonde__cell *cell, sonde__buf *out)
{
    char text[SONDE__DOUBLE_TEXT_MAX];
    size_t len = cell->is_real ? sonde__format_double(cell->value.real, text)
                               : sonde__format_int(cell->value.integer, text);
    sonde__buf_char(out, ' ');
    sonde__buf_append(out, text, len);
    sonde__buf_char(out, '\n');
}

static void write_escaped(const char *text, size_t len, sonde__buf *out)
{
    for (size_t at = 0, size; at < len; at += size) {
        size = sonde__utf8_sequence(text + at, len - at);
        if (size == 0 || text[at] == '\0') {
            size = 1;
            sonde__buf_text(out, "\xEF\xBF\xBD");
        } else if (text[at] == '\n') {
            sonde__buf_text(out, "\\n");
        } else {
            if (text[at] == '"' || text[at] == '\\')
                sonde__buf_char(out, '\\');
            sonde__buf_append(out, text + at, size);
        }
    }
}

/* Whether a label value is escaped already: every backslash starts an escape, no quote is bare. */
static bool is_escaped(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\n' || text[i] == '\0')
            return false;
        if (text[i] == '\\' && (++i == len || !strchr("\\\"n", text[i])))
            return false;
    }
    return true;
}

/* The length of the value at text: it ends before the quote that another label or the brace
   follows. */
static size_t value_len(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool last = i + 2 == len && text[i] == '"' && text[i + 1] == '}';
        if (last || (len - i > 6 && memcmp(text + i, "\",tao_", 6) == 0))
            return i;
    }
    return len;
}

/* {tao_network="x",...} with or without the prefix of the names. */
static void write_labels(const char *labels, size_t len, bool prefix, sonde__buf *out)
{
    sonde__buf_char(out, '{');
    for (size_t at = 1; at < len && len - at > 4;) {
        const char *equals = memchr(labels + at, '=', len - at);
        if (!equals)
            break;
        size_t skip = !prefix && memcmp(labels + at, "tao_", 4) == 0 ? 4 : 0;
        size_t start = (size_t)(equals - labels) + 2;
        if (start >= len)
            break;
        size_t size = value_len(labels + start, len - start);
        sonde__buf_append(out, labels + at + skip, start - at - skip);
        if (is_escaped(labels + start, size))
            sonde__buf_append(out, labels + start, size);
        else
            write_escaped(labels + start, size, out);
        sonde__buf_char(out, '"');
        at = start + size + 2;
        if (at < len)
            sonde__buf_char(out, ',');
    }
    sonde__buf_char(out, '}');
}

static void write_header(const char *name, const char *type, const char *help, sonde__buf *out)
{
    sonde__buf_text(out, "# HELP ");
    sonde__buf_text(out, name);
    sonde__buf_char(out, ' ');
    sonde__buf_text(out, help);
    sonde__buf_text(out, "\n# TYPE ");
    sonde__buf_text(out, name);
    sonde__buf_char(out, ' ');
    sonde__buf_text(out, type);
    sonde__buf_char(out, '\n');
}

static void write_flat(const sonde__cell *cell, sonde__buf *out)
{
    sonde__buf_text(out, "sonde_usage_value{name=\"");
    write_escaped(cell->key, cell->key_len, out);
    sonde__buf_text(out, "\"}");
    write_value(cell, out);
}

static void write_family(const sonde_usage *usage, int which, sonde__buf *out)
{
    bool begun = false;
    for (size_t i = 0; i < usage->count; i++) {
        const sonde__cell *cell = sonde__usage_cell(usage, i);
        if (cell->operation == SONDE__OP_RAW || family_of(cell) != which)
            continue;
        if (!begun && which == OTHER)
            write_header("sonde_usage_value", "gauge", "Metrics that have only a name.", out);
        else if (!begun)
            write_header(families[which].name, families[which].type, families[which].help, out);
        begun = true;
        if (which == OTHER) {
            write_flat(cell, out);
            continue;
        }
        size_t base = base_len(cell);
        sonde__buf_text(out, families[which].name);
        if (base < cell->key_len)
            write_labels(cell->key + base, cell->key_len - base, false, out);
        write_value(cell, out);
    }
}

static void write_own(const sonde_usage *usage, sonde__buf *out)
{
    char text[SONDE__DOUBLE_TEXT_MAX];
    write_header("sonde_usage_overflow_total", "counter",
                 "Updates of metrics beyond the limit, not kept.", out);
    sonde__buf_text(out, "sonde_usage_overflow_total ");
    sonde__buf_append(out, text, sonde__format_uint(usage->overflow, text));
    sonde__buf_char(out, '\n');
    if (usage->last_updated.year == 0)
        return;
    write_header("sonde_usage_last_updated_timestamp_seconds", "gauge",
                 "When the last job was counted.", out);
    sonde__buf_text(out, "sonde_usage_last_updated_timestamp_seconds ");
    double seconds = sonde__datetime_unix(&usage->last_updated);
    sonde__buf_append(out, text, sonde__format_double(seconds, text));
    sonde__buf_char(out, '\n');
}

static void write_name(const char *name, size_t len, sonde__buf *out)
{
    for (size_t at = 0; at < len; at++) {
        char c = name[at];
        bool digit = c >= '0' && c <= '9';
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(digit && at > 0))
            c = '_';
        sonde__buf_char(out, c);
    }
}

/* The original's names as they are; what cannot stand in a name becomes an underscore. */
static void write_compat(const sonde_usage *usage, sonde__buf *out)
{
    for (size_t i = 0; i < usage->count; i++) {
        const sonde__cell *cell = sonde__usage_cell(usage, i);
        if (cell->operation == SONDE__OP_RAW)
            continue;
        size_t base = base_len(cell);
        bool labeled = base < cell->key_len && family_of(cell) != OTHER;
        size_t len = labeled ? base : cell->key_len;
        write_name(cell->key, len, out);
        if (labeled)
            write_labels(cell->key + base, cell->key_len - base, true, out);
        write_value(cell, out);
    }
}

sonde_status sonde_usage_to_prometheus(const sonde_usage *usage, int names, char **text,
                                       size_t *len)
{
    sonde__buf buf;
    sonde__buf_init(&buf, SIZE_MAX / 2);
    sonde__usage_lock(usage);
    if (names == SONDE_USAGE_NAMES_COMPAT) {
        write_compat(usage, &buf);
    } else {
        for (int which = 0; which <= OTHER; which++)
            write_family(usage, which, &buf);
        write_own(usage, &buf);
    }
    sonde__usage_unlock(usage);
    return sonde__buf_give(&buf, text, len);
}
