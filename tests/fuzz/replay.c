/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target once on every file of a corpus folder, then on every prefix of the small ones.
   An empty or missing corpus is a failure: a replay that tests nothing must not pass. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX_SWEEP_MAX = 4096 };

static uint8_t *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    for (size_t got = 1; got > 0; size += got) {
        data = realloc(data, size + 65536);
        if (!data)
            abort();
        got = fread(data + size, 1, 65536, file);
    }
    fclose(file);
    *len = size;
    return data;
}

/* Each run gets a block of its exact size, so that a read past the end is one the sanitizer sees.
 */
static void run_exact(const uint8_t *data, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy)
        abort();
    memcpy(copy, data, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

static size_t run_file(const char *path)
{
    size_t len = 0;
    uint8_t *data = read_file(path, &len);
    if (!data)
        return 0;
    size_t runs = 1;
    run_exact(data, len);
    for (size_t cut = 0; len <= PREFIX_SWEEP_MAX && cut < len; cut++, runs++)
        run_exact(data, cut);
    free(data);
    return runs;
}

int main(int argc, char **argv)
{
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    if (!dir) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    size_t runs = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (entry->d_name[0] != '.')
            runs += run_file(path);
    }
    closedir(dir);
    printf("%zu inputs replayed\n", runs);
    return runs > 0 ? 0 : 1;
}
