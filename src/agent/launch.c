/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. The pipe closes itself when the program is loaded; what comes through it is why
   not. */
static _Noreturn void become(const sonde__launch *launch, int pipe_fd)
{
    sonde__own_group_enter(launch->group);
    for (size_t i = 0; launch->environment[i]; i++)
        putenv((char *)(uintptr_t)launch->environment[i]);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    execvp(launch->argv[0], launch->argv);
    int error = errno;
    ssize_t told = write(pipe_fd, &error, sizeof error);
    _exit(told == (ssize_t)sizeof error ? 126 : 127);
}

pid_t sonde__launch_start(const sonde__launch *launch, int *error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        *error = errno;
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0)
        become(launch, ends[1]);
    int failed = errno;
    close(ends[1]);
    if (pid > 0) {
        ssize_t got;
        do
            got = read(ends[0], &failed, sizeof failed);
        while (got < 0 && errno == EINTR);
        if (got == (ssize_t)sizeof failed) {
            waitpid(pid, NULL, 0);
            pid = -1;
        }
    }
    close(ends[0]);
    if (pid < 0)
        *error = failed;
    return pid;
}
