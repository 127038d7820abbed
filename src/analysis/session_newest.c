/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

#include "base/errno_status.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUN_HEX = 16 };

/* NAME.HOST.PID.RUN.sonde: the part that a process which joined has written. */
static bool is_member(const char *name, size_t stem)
{
    if (stem < RUN_HEX + 1 || name[stem - RUN_HEX - 1] != '.')
        return false;
    return strspn(name + stem - RUN_HEX, "0123456789abcdef") >= RUN_HEX;
}

size_t sonde__session_stem(const char *name)
{
    static const char *const suffixes[] = {".sonde", ".csv"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (len > suffix && strcmp(name + len - suffix, suffixes[i]) == 0)
            return is_member(name, len - suffix) ? 0 : len - suffix;
    }
    return 0;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

sonde_status sonde__session_newest(const char *dir, char *out, size_t size)
{
    DIR *stream = opendir(dir);
    if (!stream)
        return sonde__status_of_errno(errno);
    char best[256] = "";
    struct timespec best_time = {0, 0};
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        struct stat st;
        size_t stem = sonde__session_stem(entry->d_name);
        if (stem == 0 || stem >= sizeof best ||
            fstatat(dirfd(stream), entry->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (best[0] && !is_newer(&st.st_mtim, &best_time))
            continue;
        best_time = st.st_mtim;
        memcpy(best, entry->d_name, stem);
        best[stem] = '\0';
    }
    closedir(stream);
    if (!best[0])
        return SONDE_EABSENT;
    snprintf(out, size, "%s/%s.sonde", dir, best);
    if (access(out, F_OK) != 0)
        snprintf(out, size, "%s/%s.csv", dir, best);
    return SONDE_OK;
}
