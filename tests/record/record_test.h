/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder's tests share: a folder of their own, and a session read back. */
#ifndef SONDE_RECORD_TEST_H
#define SONDE_RECORD_TEST_H

#include "sonde/sonde.h"

/* cmocka wants these before itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The thread sanitizer gives up on the children of a process with threads that start a thread. */
static inline void skip_under_tsan(void)
{
#if defined(__SANITIZE_THREAD__)
    print_message("skipped: the thread sanitizer does not follow a fork into new threads\n");
    skip();
#endif
}

/* A new folder; removed by remove_folder. */
static inline char *make_folder(void)
{
    static char path[64];
    strcpy(path, "/tmp/sonde-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static inline void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char name[600];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(name);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static inline sonde_session *open_in(const char *dir, const char *name)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.full_wait_ns = 30000000000u; /* a busy machine may keep the drain from running */
    sonde_session *session = NULL;
    assert_int_equal(sonde_open(name, &options, &session), SONDE_OK);
    return session;
}

static inline sonde_reader *read_in(const char *dir, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s.sonde", dir, name);
    sonde_reader *reader = NULL;
    assert_int_equal(sonde_reader_open(path, NULL, &reader), SONDE_OK);
    return reader;
}

/* The value of an integer attribute, or missing. */
static inline int64_t int_attr(const sonde_record *record, const char *key, int64_t missing)
{
    for (size_t i = 0; i < record->attr_count; i++)
        if (record->attrs[i].key_len == strlen(key) &&
            memcmp(record->attrs[i].key, key, strlen(key)) == 0)
            return record->attrs[i].value.i;
    return missing;
}

static inline int name_is(const sonde_record *record, const char *name)
{
    return record->name_len == strlen(name) && memcmp(record->name, name, record->name_len) == 0;
}

static inline unsigned soak(unsigned normal, unsigned full)
{
    return getenv("SONDE_SOAK") ? full : normal;
}

#endif
