/* SPDX-License-Identifier: Apache-2.0 */
/* SONDE_HELPERS_FROM_BIN is the way from the program's folder to the helpers', the same where it is
   installed and where it is built. */
#include "cli/helper_program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool find_helper(const char *name, char *out, size_t size)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len <= 0)
        return false;
    self[len] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = '\0';
    int made = snprintf(out, size, "%s/" SONDE_HELPERS_FROM_BIN "/sonde-%s", self, name);
    return made > 0 && (size_t)made < size;
}

int sonde__helper_execute(const sonde__args *args, const char *name,
                          const char *(*replaced)(const char *option))
{
    char path[PATH_MAX];
    char *argv[SONDE__OPTIONS_MAX + 2] = {path};
    size_t count = 1;
    if (!find_helper(name, path, sizeof path)) {
        sonde__command_error(args->command, "where this program lies cannot be told");
        return SONDE__EXIT_FAILED;
    }
    const sonde__option *options = args->command->options;
    for (size_t i = 0; options[i].name; i++) {
        if (!args->value[i])
            continue;
        const char *other = replaced ? replaced(options[i].name) : NULL;
        if (asprintf(&argv[count], "%s=%s", options[i].name, other ? other : args->value[i]) < 0)
            break;
        count++;
    }
    argv[count] = NULL;
    execv(path, argv);
    sonde__command_error(args->command, "%s: %s; is the whole of Sonde installed?", path,
                         strerror(errno));
    while (--count > 0)
        free(argv[count]);
    return SONDE__EXIT_FAILED;
}
