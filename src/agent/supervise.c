/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, one loop: signals and deadlines. The command's own processes cost nothing extra: they
   are looked at from outside, and what they used in all is what the kernel says when they are
   waited for. */
#include "agent/supervise.h"

#include "agent/launch.h"
#include "agent/run_session.h"
#include "agent/signals.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_TICK_NS 250000000u /* how old a task may get before its row is written */

enum { EXIT_NOT_RECORDED = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

typedef struct supervisor {
    const sonde__supervise_options *options;
    sonde__run_report *report;
    sonde__run_session session;
    sonde__own_group group;
    sonde__tree_walk family;
    pid_t pid;
    bool ended;
    int status;
    uint64_t start_mono_ns;
    uint64_t reaped_user_ns;
    uint64_t reaped_system_ns;
    uint64_t reaped_read_bytes;
    uint64_t reaped_written_bytes;
} supervisor;

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static unsigned cpus_allowed(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

/* --- what the family uses --- */

static void note_peaks(sonde__run_report *report, const sonde__family *family)
{
    if (family->rss_bytes > report->peak_rss_bytes)
        report->peak_rss_bytes = family->rss_bytes;
    if (family->processes > report->peak_processes)
        report->peak_processes = family->processes;
    if (family->threads > report->peak_threads)
        report->peak_threads = family->threads;
}

static void note_totals(supervisor *self)
{
    sonde__run_report *report = self->report;
    struct rusage own;
    report->duration_ns = sonde__clock_monotonic_ns() - self->start_mono_ns;
    report->user_ns = self->reaped_user_ns + report->last.user_ns;
    report->system_ns = self->reaped_system_ns + report->last.system_ns;
    report->read_bytes = self->reaped_read_bytes + report->last.read_bytes;
    report->written_bytes = self->reaped_written_bytes + report->last.written_bytes;
    sonde__own_group_read(&self->group, &report->group);
    if (getrusage(RUSAGE_SELF, &own) == 0) {
        report->own_cpu_ns = ns_of(own.ru_utime) + ns_of(own.ru_stime);
        report->own_rss_bytes = (uint64_t)own.ru_maxrss * 1024;
    }
}

static void take_sample(supervisor *self)
{
    sonde__family_look(&self->family, &self->report->last);
    note_peaks(self->report, &self->report->last);
    note_totals(self);
    self->report->samples++;
    sonde__run_session_sample(self->report);
}

/* --- children --- */

static void note_end(supervisor *self, int status)
{
    sonde__run_report *report = self->report;
    self->ended = true;
    self->status = status;
    report->ended = true;
    if (WIFSIGNALED(status)) {
        report->signal = WTERMSIG(status);
        report->exit_code = 128 + report->signal;
    } else {
        report->exit_code = WEXITSTATUS(status);
    }
}

/* Waits for one that has ended, after reading what only a zombie can still tell. */
static void reap(supervisor *self, pid_t pid)
{
    uint64_t read_bytes = 0, written_bytes = 0;
    bool known = sonde__family_io(&self->family, pid, &read_bytes, &written_bytes);
    struct rusage usage;
    int status;
    if (wait4(pid, &status, 0, &usage) != pid)
        return;
    self->reaped_user_ns += ns_of(usage.ru_utime);
    self->reaped_system_ns += ns_of(usage.ru_stime);
    self->reaped_read_bytes += known ? read_bytes : (uint64_t)usage.ru_inblock * 512;
    self->reaped_written_bytes += known ? written_bytes : (uint64_t)usage.ru_oublock * 512;
    uint64_t rss = (uint64_t)usage.ru_maxrss * 1024;
    if (rss > self->report->largest_rss_bytes)
        self->report->largest_rss_bytes = rss;
    if (rss > self->report->peak_rss_bytes)
        self->report->peak_rss_bytes = rss;
    if (pid == self->pid)
        note_end(self, status);
}

static void look_at_children(supervisor *self)
{
    siginfo_t info;
    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            break;
        reap(self, info.si_pid);
    }
    info.si_pid = 0;
    if (!self->ended && waitid(P_PID, (id_t)self->pid, &info, WSTOPPED | WNOHANG) == 0 &&
        info.si_pid == self->pid)
        sonde__signals_stop_self();
}

/* --- the loop --- */

static void wait_until(int signal_fd, uint64_t deadline_ns)
{
    uint64_t now_ns = sonde__clock_monotonic_ns();
    uint64_t left = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    struct timespec limit = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    struct pollfd wait = {.fd = signal_fd, .events = POLLIN};
    ppoll(&wait, 1, &limit, NULL);
}

static void watch(supervisor *self, int signal_fd)
{
    uint64_t sample_ns = self->options->sample_ns;
    uint64_t sample_due = sonde__clock_monotonic_ns() + sample_ns;
    uint64_t files_due = sonde__clock_monotonic_ns() + FILES_TICK_NS;
    while (!self->ended) {
        wait_until(signal_fd, sample_due < files_due ? sample_due : files_due);
        if (sonde__signals_handle(signal_fd, self->pid))
            look_at_children(self);
        uint64_t now_ns = sonde__clock_monotonic_ns();
        if (now_ns >= sample_due && !self->ended) {
            take_sample(self);
            sample_due += sample_ns;
            if (sample_due < now_ns) /* we were stopped, or the machine slept */
                sample_due = now_ns + sample_ns;
        }
        if (now_ns >= files_due) {
            sonde__run_session_pass(&self->session);
            files_due = now_ns + FILES_TICK_NS;
        }
    }
}

static int exit_code_of(int error)
{
    if (error == ENOENT)
        return EXIT_NOT_FOUND;
    return error == EAGAIN || error == ENOMEM ? EXIT_NOT_RECORDED : EXIT_NOT_EXECUTABLE;
}

static void run_command(supervisor *self, int signal_fd, const sigset_t *mask)
{
    sonde__run_report *report = self->report;
    char *environment[3] = {NULL};
    sonde__run_session_environment(&self->session, environment);
    sonde__launch launch = {self->options->argv, environment, &self->group, *mask};
    self->start_mono_ns = sonde__clock_monotonic_ns();
    report->start_ns = sonde__clock_wall_ns();
    self->pid = sonde__launch_start(&launch, &report->launch_error);
    if (self->pid < 0) {
        report->exit_code = exit_code_of(report->launch_error);
        return;
    }
    report->peak_processes = report->peak_threads = 1; /* it was there, however short */
    /* while it starts: it need not wait for our files to be opened */
    sonde__host_watch_open(&report->host, self->options->host ? self->options->capture : NULL);
    take_sample(self); /* at once, so that a command of some milliseconds has one */
    watch(self, signal_fd);
    sonde__family_look(&self->family, &report->last);
    report->still_running = report->last.processes;
    note_totals(self);
    sonde__host_watch_close(&report->host);
}

void sonde__supervise(const sonde__supervise_options *options, sonde__run_report *report)
{
    supervisor self = {.options = options, .report = report};
    sigset_t mask;
    memset(report, 0, sizeof *report);
    report->argv = options->argv;
    report->cpus = cpus_allowed();
    report->io_known = true;
    sonde__host_watch_open(&report->host, NULL);
    report->exit_code = EXIT_NOT_RECORDED;
    int signal_fd = sonde__signals_take(&mask);
    if (signal_fd < 0) {
        snprintf(report->error, sizeof report->error, "cannot handle signals: %s", strerror(errno));
        return;
    }
    if (sonde__run_session_open(&self.session, options, report) == SONDE_OK) {
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        sonde__family_open(&self.family);
        if (options->group)
            sonde__own_group_make(&self.group);
        else
            self.group = (sonde__own_group){.fd = -1, .reason = "switched off"};
        memcpy(report->group_reason, self.group.reason, sizeof report->group_reason);
        run_command(&self, signal_fd, &mask);
        sonde__own_group_remove(&self.group);
        sonde__run_session_close(&self.session, report);
        sonde__tree_walk_close(&self.family);
    }
    close(signal_fd);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}
