/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/machine_parsers.h"

static bool at_line_end(sonde__scan *scan)
{
    sonde__scan_blanks(scan);
    return scan->at < scan->end && *scan->at == '\n';
}

sonde_status sonde__parse_number(const char *text, size_t len, uint64_t *out)
{
    sonde__scan scan = sonde__scan_of(text, len);
    uint64_t value;
    if (sonde__scan_literal(&scan, "max\n", 4))
        return SONDE_EABSENT;
    if (!sonde__scan_uint(&scan, &value) || !at_line_end(&scan))
        return SONDE_EBADDATA;
    *out = value;
    return SONDE_OK;
}

sonde_status sonde__parse_signed(const char *text, size_t len, int64_t *out)
{
    sonde__scan scan = sonde__scan_of(text, len);
    bool negative = sonde__scan_literal(&scan, "-", 1);
    uint64_t value;
    if (!sonde__scan_uint(&scan, &value) || !at_line_end(&scan) || value > INT64_MAX)
        return SONDE_EBADDATA;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return SONDE_OK;
}

sonde_status sonde__parse_keyed(const char *text, size_t len, const char *key, uint64_t *out)
{
    sonde__scan scan = sonde__scan_of(text, len), line;
    size_t key_len = strlen(key);
    while (sonde__scan_line(&scan, &line)) {
        if (!sonde__scan_literal(&line, key, key_len))
            continue;
        if (!sonde__scan_literal(&line, ":", 1) && *line.at != ' ' && *line.at != '\t')
            continue;
        uint64_t value;
        if (!sonde__scan_uint(&line, &value))
            return SONDE_EBADDATA;
        *out = value;
        return SONDE_OK;
    }
    return SONDE_EABSENT;
}

sonde_status sonde__parse_loadavg(const char *text, size_t len, sonde__loadavg *out)
{
    sonde__scan scan = sonde__scan_of(text, len);
    sonde__loadavg value;
    for (unsigned i = 0; i < 3; i++)
        if (!sonde__scan_decimal(&scan, &value.mean[i]))
            return SONDE_EBADDATA;
    sonde__scan_blanks(&scan);
    if (!sonde__scan_digits(&scan, &value.running) || !sonde__scan_literal(&scan, "/", 1) ||
        !sonde__scan_uint(&scan, &value.tasks))
        return SONDE_EBADDATA;
    *out = value;
    return SONDE_OK;
}

/* "avg10=0.00 avg60=0.00 avg300=0.00 total=0" */
static bool scan_pressure(sonde__scan *line, double percent[SONDE__PRESSURE_AVERAGES],
                          uint64_t *total_us)
{
    static const char *const keys[SONDE__PRESSURE_AVERAGES] = {"avg10=", "avg60=", "avg300="};
    for (unsigned i = 0; i < SONDE__PRESSURE_AVERAGES; i++) {
        sonde__scan_blanks(line);
        if (!sonde__scan_literal(line, keys[i], strlen(keys[i])) ||
            !sonde__scan_decimal(line, &percent[i]))
            return false;
    }
    sonde__scan_blanks(line);
    return sonde__scan_literal(line, "total=", 6) && sonde__scan_uint(line, total_us);
}

sonde_status sonde__parse_pressure(const char *text, size_t len, sonde__pressure *out)
{
    static const char *const names[SONDE__PRESSURE_LINES] = {"some ", "full "};
    sonde__scan scan = sonde__scan_of(text, len), line;
    sonde__pressure value = {0};
    while (sonde__scan_line(&scan, &line)) {
        for (unsigned i = 0; i < SONDE__PRESSURE_LINES; i++) {
            if (!sonde__scan_literal(&line, names[i], 5))
                continue;
            if (!scan_pressure(&line, value.percent[i], &value.total_us[i]))
                return SONDE_EBADDATA;
            value.known |= 1u << i;
            break;
        }
    }
    if (!(value.known & (1u << SONDE__PRESSURE_SOME)))
        return SONDE_EBADDATA;
    *out = value;
    return SONDE_OK;
}

sonde_status sonde__parse_cpu_max(const char *text, size_t len, double *cpus)
{
    sonde__scan scan = sonde__scan_of(text, len);
    uint64_t quota, period;
    if (sonde__scan_literal(&scan, "max ", 4))
        return SONDE_EABSENT;
    if (!sonde__scan_uint(&scan, &quota) || !sonde__scan_uint(&scan, &period) || period == 0)
        return SONDE_EBADDATA;
    *cpus = (double)quota / (double)period;
    return SONDE_OK;
}

/* Cuts scan at the next colon; what is before it is the part. */
static bool scan_part(sonde__scan *scan, const char **part, size_t *len)
{
    const char *colon = memchr(scan->at, ':', (size_t)(scan->end - scan->at));
    if (!colon)
        return false;
    *part = scan->at;
    *len = (size_t)(colon - scan->at);
    scan->at = colon + 1;
    return true;
}

bool sonde__cgroup_next(sonde__scan *scan, sonde__cgroup_line *out)
{
    sonde__scan line;
    while (sonde__scan_line(scan, &line)) {
        const char *id;
        size_t id_len;
        if (!scan_part(&line, &id, &id_len) ||
            !scan_part(&line, &out->controllers, &out->controllers_len) || *line.at != '/')
            continue;
        out->v2 = id_len == 1 && *id == '0' && out->controllers_len == 0;
        out->path = line.at;
        out->path_len = (size_t)(line.end - line.at) - 1;
        return true;
    }
    return false;
}

/* Copies a path of mountinfo, in which \040 stands for a blank. */
static bool decode_path(const char *text, size_t len, char out[SONDE__CGROUP_PATH_BYTES])
{
    size_t used = 0;
    for (size_t i = 0; i < len; used++) {
        if (used + 1 >= SONDE__CGROUP_PATH_BYTES)
            return false;
        unsigned code = 0, digits = 0;
        if (text[i] == '\\')
            while (digits < 3 && i + 1 + digits < len && text[i + 1 + digits] >= '0' &&
                   text[i + 1 + digits] <= '7')
                code = code * 8 + (unsigned)(text[i + 1 + digits++] - '0');
        if (digits == 3 && code > 0 && code < 256) {
            out[used] = (char)(unsigned char)code;
            i += 4;
        } else {
            out[used] = text[i++];
        }
    }
    out[used] = '\0';
    return used > 0 && out[0] == '/';
}

static bool scan_mount(sonde__scan *line, sonde__cgroup_mount *out)
{
    const char *word, *root, *point;
    size_t len, root_len, point_len;
    for (unsigned i = 0; i < 3; i++)
        if (!sonde__scan_word(line, &word, &len))
            return false;
    if (!sonde__scan_word(line, &root, &root_len) || !sonde__scan_word(line, &point, &point_len))
        return false;
    do
        if (!sonde__scan_word(line, &word, &len))
            return false;
    while (len != 1 || *word != '-');
    if (!sonde__scan_word(line, &word, &len))
        return false;
    out->v2 = len == 7 && memcmp(word, "cgroup2", 7) == 0;
    if (!out->v2 && (len != 6 || memcmp(word, "cgroup", 6) != 0))
        return false;
    return sonde__scan_word(line, &word, &len) &&
           sonde__scan_word(line, &out->options, &out->options_len) &&
           decode_path(root, root_len, out->root) && decode_path(point, point_len, out->point);
}

bool sonde__cgroup_mount_next(sonde__scan *scan, sonde__cgroup_mount *out)
{
    sonde__scan line;
    while (sonde__scan_line(scan, &line))
        if (scan_mount(&line, out))
            return true;
    return false;
}

bool sonde__list_has(const char *list, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    for (size_t at = 0; at < len;) {
        const char *comma = memchr(list + at, ',', len - at);
        size_t end = comma ? (size_t)(comma - list) : len;
        if (end - at == name_len && memcmp(list + at, name, name_len) == 0)
            return true;
        at = end + 1;
    }
    return false;
}

bool sonde__children_next(sonde__scan *scan, uint64_t *pid)
{
    return sonde__scan_uint(scan, pid);
}

sonde_status sonde__parse_pid_parent(const char *text, size_t len, uint64_t *parent)
{
    const char *name_end = len ? memrchr(text, ')', len) : NULL;
    if (!name_end)
        return SONDE_EBADDATA;
    sonde__scan scan = {name_end + 1, text + len};
    const char *letter;
    size_t letter_len;
    uint64_t value;
    if (!sonde__scan_word(&scan, &letter, &letter_len) || letter_len != 1 ||
        !sonde__scan_uint(&scan, &value))
        return SONDE_EBADDATA;
    *parent = value;
    return SONDE_OK;
}
