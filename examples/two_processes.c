/* SPDX-License-Identifier: Apache-2.0 */
/* One span tree across two programs: the parent exports the session, the child (this same program,
   started anew) joins it by its first record and hangs below the task that started it. */
#include <sonde/sonde.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(void)
{
    sonde_task task = sonde_task_begin(SONDE_NAME("in_child")); /* joins $SONDE_SESSION */
    sonde_task_int(task, SONDE_USED, SONDE_NAME("pid"), getpid());
    sonde_task_end(task);
    return 0; /* the session is closed at exit */
}

static unsigned count_children(const char *path, uint64_t parent)
{
    sonde_reader *reader = NULL;
    sonde_record record;
    unsigned count = 0;
    if (sonde_reader_open(path, NULL, &reader) != SONDE_OK)
        return 0;
    while (sonde_reader_next(reader, &record) == SONDE_OK)
        count += record.kind == SONDE_RECORD_TASK && record.parent == parent;
    sonde_reader_close(reader);
    return count;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child();
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = argc > 1 ? argv[1] : "telemetry";
    sonde_session *session = NULL;
    if (sonde_open("tree", &options, &session) != SONDE_OK)
        return 1;
    sonde_task launch = sonde_task_begin(SONDE_NAME("launch"));
    sonde_context self = sonde_task_context(launch);
    sonde_session_export(session);
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", argv[0], "child", (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    sonde_task_end(launch);
    char path[1024];
    snprintf(path, sizeof path, "%s", sonde_session_path(session));
    sonde_close(session);
    unsigned children = count_children(path, self.span);
    printf("%u task of another process below \"launch\" in %s\n", children, path);
    return status == 0 && children == 1 ? 0 : 1;
}
