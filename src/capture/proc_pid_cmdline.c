/* SPDX-License-Identifier: Apache-2.0 */
/* Program and arguments of the process. They change by exec or by a program that writes its title
   over its arguments, so they are read at each recheck only. Secrets in arguments are masked here,
   so that no output has them. */
#include "base/errno_status.h"
#include "base/mask.h"
#include "capture/parsers.h"
#include "capture/source.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

typedef struct cmdline_state {
    sonde__kernel_file file;
    sonde_status exe_status;
    sonde_status args_status;
    char exe[PATH_MAX];
    sonde__buf args; /* as the kernel has them */
    sonde__buf shown;
    size_t count;
} cmdline_state;

size_t sonde__split_cmdline(char *text, size_t len)
{
    if (len == 0)
        return 0;
    char separator = text[len - 1] == '\0' ? '\0' : ' ';
    if (text[len - 1] == separator)
        len--;
    if (separator == '\0' && !memchr(text, '\0', len) && memchr(text, ' ', len))
        separator = ' ';
    text[len] = '\0';
    size_t count = 1;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != separator && text[i] != '\0')
            continue;
        text[i] = '\0';
        count++;
    }
    return count;
}

static sonde_status read_exe(const sonde__host *host, char *out, size_t cap)
{
    char path[SONDE__ROOT_BYTES + 64];
    bool fits = host->pid
                    ? sonde__host_path(host, path, sizeof path, "/proc/%d/exe", (int)host->pid)
                    : sonde__host_path(host, path, sizeof path, "/proc/self/exe");
    if (!fits)
        return SONDE_ELIMIT;
    ssize_t len = readlink(path, out, cap - 1);
    if (len < 0) {
        sonde_status status = sonde__status_of_errno(errno);
        bool gone = status == SONDE_EABSENT && !sonde__host_process_exists(host);
        return gone ? SONDE_EGONE : status;
    }
    out[len] = '\0';
    static const char deleted[] = " (deleted)";
    size_t suffix = sizeof deleted - 1;
    if ((size_t)len > suffix && strcmp(out + len - (ssize_t)suffix, deleted) == 0 &&
        access(out, F_OK) != 0)
        out[(size_t)len - suffix] = '\0';
    return SONDE_OK;
}

static void look_again(sonde__host *host, cmdline_state *state)
{
    state->exe_status = read_exe(host, state->exe, sizeof state->exe);
    state->args_status = sonde__kernel_file_read(&state->file, &state->args);
    if (state->args_status != SONDE_OK)
        return;
    sonde__buf_clear(&state->shown);
    if (sonde__buf_reserve(&state->args, 1)) {
        state->count = sonde__split_cmdline(state->args.data, state->args.len);
        sonde__mask_arguments(state->args.data, state->count, &state->shown);
        state->args_status = state->shown.status;
    } else {
        state->args_status = state->args.status;
    }
}

static sonde_status cmdline_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    cmdline_state *state = opaque;
    if (host->recheck)
        look_again(host, state);
    out->executable = state->exe;
    out->cmd_line = state->shown.data;
    out->cmd_line_count = state->count;
    out->status[SONDE_FIELD_PROCESS_EXECUTABLE] = (int8_t)state->exe_status;
    out->status[SONDE_FIELD_PROCESS_CMD_LINE] = (int8_t)state->args_status;
    return SONDE_OK;
}

static sonde_status cmdline_open(sonde__host *host, void *opaque)
{
    cmdline_state *state = opaque;
    sonde_status status = sonde__host_open_file(host, "cmdline", SONDE__FILE_WHOLE, &state->file);
    if (status != SONDE_OK)
        return status;
    sonde__buf_init(&state->args, SONDE__KERNEL_FILE_MAX);
    sonde__buf_init(&state->shown, SONDE__KERNEL_FILE_MAX);
    look_again(host, state);
    return SONDE_OK;
}

static void cmdline_close(void *opaque)
{
    cmdline_state *state = opaque;
    sonde__kernel_file_close(&state->file);
    sonde__buf_free(&state->args);
    sonde__buf_free(&state->shown);
}

const sonde__source sonde__source_proc_pid_cmdline = {
    .name = "proc_pid_cmdline",
    .summary = "program and arguments of the process",
    .remedy =
        "only the same user or root may see the program of a process; kernel threads have none",
    .types = SONDE_CAPTURE_PROCESS,
    .levels = SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_PROCESS_EXECUTABLE, SONDE_FIELD_PROCESS_CMD_LINE}},
    .state_bytes = sizeof(cmdline_state),
    .open = cmdline_open,
    .read = cmdline_read,
    .close = cmdline_close,
};
