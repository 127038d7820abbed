/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Faults and aborts are ours; SIGPIPE on our own output must not end the recording. */
static void passable(sigset_t *set)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGTRAP,
                              SIGABRT, SIGSYS, SIGPIPE, SIGWINCH};
    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(set, own[i]);
}

int sonde__signals_take(sigset_t *before)
{
    sigset_t set;
    passable(&set);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, before) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A signal that the kernel made (a key on the terminal, a hang-up) went to the whole group, and so
   to the command. */
static bool is_ours_alone(const struct signalfd_siginfo *info)
{
    return info->ssi_code <= 0; /* SI_USER, SI_QUEUE, SI_TKILL and the like */
}

bool sonde__signals_handle(int fd, pid_t pid)
{
    struct signalfd_siginfo info;
    bool child = false;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            child = true;
        else if (pid > 0 && is_ours_alone(&info) && (pid_t)info.ssi_pid != pid)
            kill(pid, (int)info.ssi_signo);
    }
    return child;
}

void sonde__signals_stop_self(void)
{
    kill(getpid(), SIGSTOP);
}
