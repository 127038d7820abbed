/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. The pipe closes itself when the program is loaded; what comes through it is why
   not. Nothing here allocates: another thread may hold the allocator's lock for ever. */
static _Noreturn void become(const sonde__launch *launch, char *const *environment, int pipe_fd)
{
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    execvpe(launch->argv[0], launch->argv, environment);
    int error = errno;
    ssize_t told = write(pipe_fd, &error, sizeof error);
    _exit(told == (ssize_t)sizeof error ? 126 : 127);
}

/* A child in the group from its first instruction. Moving one there afterwards makes the kernel
   wait for all CPUs, some ten milliseconds. */
static pid_t make_child(const sonde__own_group *group)
{
    if (group->fd >= 0) {
        struct clone_args args = {.flags = CLONE_INTO_CGROUP,
                                  .exit_signal = SIGCHLD,
                                  .cgroup = (unsigned long long)group->fd};
        pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
        if (pid >= 0)
            return pid;
    }
    return fork();
}

static bool is_replaced(const char *entry, char *const *others)
{
    for (size_t i = 0; others[i]; i++) {
        size_t name = strcspn(others[i], "=") + 1;
        if (strncmp(entry, others[i], name) == 0)
            return true;
    }
    return false;
}

/* The environment of this process with some entries replaced. The list is to be freed. */
static char **make_environment(char *const *entries)
{
    size_t count = 0, used = 0, more = 0;
    while (environ[count])
        count++;
    while (entries[more])
        more++;
    char **list = calloc(count + more + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (!is_replaced(environ[i], entries))
            list[used++] = environ[i];
    for (size_t i = 0; list && i < more; i++)
        list[used++] = entries[i];
    return list;
}

pid_t sonde__launch_start(const sonde__launch *launch, int *error)
{
    int ends[2];
    char **environment = make_environment(launch->environment);
    if (!environment || pipe2(ends, O_CLOEXEC) != 0) {
        *error = environment ? errno : ENOMEM;
        free(environment);
        return -1;
    }
    pid_t pid = make_child(launch->group);
    if (pid == 0)
        become(launch, environment, ends[1]);
    int failed = errno;
    free(environment);
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
