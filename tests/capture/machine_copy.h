/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded machine copied to a temporary folder, whose files a test changes. */
#ifndef SONDE_TESTS_MACHINE_COPY_H
#define SONDE_TESTS_MACHINE_COPY_H

#include "capture_test.h"

enum { MACHINE_PATH_BYTES = 256 };

static char machine_root[MACHINE_PATH_BYTES];
static size_t machine_source_len;

static inline void machine_path(char *out, const char *file)
{
    int len = snprintf(out, MACHINE_PATH_BYTES, "%s/%s", machine_root, file);
    assert_true(len > 0 && len < MACHINE_PATH_BYTES);
}

/* Writes over a file in place, so that an open descriptor sees the new bytes. */
static inline void machine_write(const char *file, const char *bytes, size_t len)
{
    char path[MACHINE_PATH_BYTES];
    machine_path(path, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

static inline void machine_text(const char *file, const char *text)
{
    machine_write(file, text, strlen(text));
}

static inline char *machine_read(const char *file, size_t *len)
{
    char path[MACHINE_PATH_BYTES];
    machine_path(path, file);
    FILE *in = fopen(path, "rbe");
    assert_non_null(in);
    char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *len = fread(bytes, 1, (1 << 20) - 1, in);
    bytes[*len] = '\0';
    fclose(in);
    return bytes;
}

/* Replaces the one occurrence of a text in a file. */
static inline void machine_replace(const char *file, const char *from, const char *to)
{
    size_t len;
    char *text = machine_read(file, &len);
    char *at = strstr(text, from);
    assert_non_null(at);
    char *changed = malloc(len + strlen(to) + 1);
    assert_non_null(changed);
    int changed_len = sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    machine_write(file, changed, (size_t)changed_len);
    free(changed);
    free(text);
}

static inline int copy_entry(const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
    (void)info;
    (void)ftw;
    char to[MACHINE_PATH_BYTES], target[MACHINE_PATH_BYTES] = "";
    machine_path(to, path + machine_source_len);
    if (kind == FTW_D)
        return mkdir(to, 0755) != 0 && strcmp(path + machine_source_len, "") != 0;
    if (kind == FTW_SL || kind == FTW_SLN)
        return readlink(path, target, sizeof target - 1) < 0 || symlink(target, to) != 0;
    FILE *in = fopen(path, "rbe");
    if (!in)
        return 1;
    char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    size_t len = fread(bytes, 1, 1 << 20, in);
    fclose(in);
    machine_write(path + machine_source_len, bytes, len);
    free(bytes);
    return 0;
}

static inline int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
    (void)info;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void machine_copy(const char *name)
{
    const char *folder = getenv("TMPDIR");
    char source[MACHINE_PATH_BYTES];
    snprintf(machine_root, sizeof machine_root, "%s/sonde-machine-XXXXXX",
             folder ? folder : "/tmp");
    assert_non_null(mkdtemp(machine_root));
    assert_int_equal(chmod(machine_root, 0755), 0);
    machine_source_len = (size_t)snprintf(source, sizeof source, FIXTURES "%s", name);
    assert_int_equal(nftw(source, copy_entry, 16, FTW_PHYS), 0);
}

static inline void machine_remove(void)
{
    if (machine_root[0])
        nftw(machine_root, remove_entry, 16, FTW_PHYS | FTW_DEPTH);
    machine_root[0] = '\0';
}

static inline int machine_teardown(void **state)
{
    (void)state;
    machine_remove();
    return 0;
}

#endif
