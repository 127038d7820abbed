/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void format_bytes(double bytes, char *out, size_t cap)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    while (bytes >= 1024 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, cap, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

/* 1234567 as "1,234,567". */
static void format_count(double value, char *out, size_t cap)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%.0f", value);
    size_t used = 0;
    for (int i = 0; i < len && used + 2 < cap; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
}

void sonde__format_field(const sonde_field_info *info, double value, char *out, size_t cap)
{
    if (strcmp(info->unit, "bytes") == 0)
        format_bytes(value, out, cap);
    else if (strcmp(info->unit, "s") == 0)
        snprintf(out, cap, "%.2f s", value);
    else if (strcmp(info->unit, "%") == 0)
        snprintf(out, cap, value < 0.1 && value > 0 ? "%.2g %%" : "%.1f %%", value);
    else if (strcmp(info->unit, "J") == 0 || strcmp(info->unit, "W") == 0 ||
             strcmp(info->unit, "C") == 0 || strcmp(info->unit, "CPUs") == 0)
        snprintf(out, cap, "%.2f %s", value, info->unit);
    else if (info->type == SONDE_FIELD_TYPE_DOUBLE && !*info->unit)
        snprintf(out, cap, "%.2f", value);
    else if (strcmp(info->unit, "MHz") == 0)
        snprintf(out, cap, "%.0f MHz", value);
    else if (strcmp(info->unit, "ms") == 0)
        snprintf(out, cap, "%.1f s", value / 1000);
    else if (strcmp(info->key, "pid") == 0)
        snprintf(out, cap, "%.0f", value);
    else
        format_count(value, out, cap);
}

void sonde__format_duration(uint64_t ns, char *out, size_t cap)
{
    if (ns < 1000000)
        snprintf(out, cap, "%.1f us", (double)ns / 1e3);
    else if (ns < 1000000000)
        snprintf(out, cap, "%.2f ms", (double)ns / 1e6);
    else
        snprintf(out, cap, "%.2f s", (double)ns / 1e9);
}

bool sonde__parse_duration(const char *text, uint64_t *ns)
{
    static const struct {
        const char *suffix;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}};
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno || !isfinite(value))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].suffix) != 0)
            continue;
        double seconds = value * units[i].seconds;
        if (!(seconds >= 1e-6 && seconds <= 366 * 86400.0))
            return false;
        *ns = (uint64_t)(seconds * 1e9);
        return true;
    }
    return false;
}

bool sonde__parse_count(const char *text, long least, long most, long *out)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < least || value > most)
        return false;
    *out = value;
    return true;
}
