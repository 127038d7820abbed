/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_COLUMNS = 100, LEAST_COLUMNS = 40 };

bool sonde__output_write(const char *text, size_t len)
{
    fwrite(text, 1, len, stdout);
    return sonde__output_finish();
}

bool sonde__output_finish(void)
{
    static bool told;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (!told && errno != EPIPE) /* who reads has seen enough; that is no failure to report */
        fprintf(stderr, "sonde: cannot write the output: %s\n", strerror(errno));
    told = true;
    return false;
}

bool sonde__output_is_terminal(void)
{
    return isatty(STDOUT_FILENO);
}

bool sonde__output_has_colour(void)
{
    const char *off = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return sonde__output_is_terminal() && (!off || !*off) && term && strcmp(term, "dumb") != 0;
}

size_t sonde__output_columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < LEAST_COLUMNS)
        return DEFAULT_COLUMNS;
    return size.ws_col;
}

void sonde__buf_bold(sonde__buf *buf, const char *text)
{
    bool colour = sonde__output_has_colour();
    sonde__buf_printf(buf, "%s%s%s", colour ? "\033[1m" : "", text, colour ? "\033[0m" : "");
}
