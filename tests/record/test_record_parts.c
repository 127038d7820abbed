/* SPDX-License-Identifier: Apache-2.0 */
/* A journal in parts reads as one session; at its byte limit every record is stored or counted,
   exactly, whether the writer stops there or removes the oldest parts, also when it is killed. */
#include "record_load.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { PART = 64 << 10, LIMIT = 1 << 20 };

static char shm[32];

static sonde_options limited(const char *dir, sonde_when_full when_full)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.full_wait_ns = 30000000000u;
    options.part_bytes = PART;
    options.bytes_max = LIMIT;
    options.when_full = when_full;
    return options;
}

static unsigned files_in(const char *dir, uint64_t *bytes)
{
    unsigned count = 0;
    *bytes = 0;
    DIR *folder = opendir(dir);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[600];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (!strstr(entry->d_name, ".sonde") || stat(path, &st) != 0)
            continue;
        count++;
        *bytes += (uint64_t)st.st_size;
    }
    closedir(folder);
    return count;
}

/* The session as a program that has just been started reads it. */
static load_result check(const char *dir, const char *name, uint64_t sent)
{
    uint64_t bytes;
    unsigned files = files_in(dir, &bytes);
    load_result result = load_check(dir, name, NULL, true);
    print_message("%s: %u files, %llu bytes; %llu sent = %llu stored + %llu lost\n", name, files,
                  (unsigned long long)bytes, (unsigned long long)sent,
                  (unsigned long long)(result.stored + result.outer),
                  (unsigned long long)result.lost);
    assert_int_equal(result.stored + result.outer + result.lost, sent);
    assert_int_equal(result.stats.lost, result.lost);
    assert_int_equal(result.stats.bad_bytes, 0);
    return result;
}

static void many_parts_are_one_session(void **state)
{
    (void)state;
    char *dir = make_folder();
    sonde_options options = limited(dir, SONDE_FULL_STOP);
    options.bytes_max = 0;
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("parts", &options, &session), SONDE_OK);
    char path[600];
    snprintf(path, sizeof path, "%s", sonde_session_path(session));
    load_board *board = load_board_new();
    load_run(board, 2, 40000);
    sonde_session_stats stats;
    sonde_flush(session, 0, 5000000000u);
    sonde_session_stats_get(session, &stats);
    assert_true(stats.part > 5);
    assert_string_equal(path, sonde_session_path(session)); /* the file that readers are given */
    sonde_close(session);
    load_result result = check(dir, "parts", 80002);
    assert_int_equal(result.lost, 0);
    assert_true(result.stats.files >= stats.part);
    assert_int_equal(result.stats.duplicates, 0);
    munmap(board, sizeof *board);
    remove_folder(dir);
}

static void stops_at_the_limit(void **state)
{
    (void)state;
    char *dir = make_folder();
    sonde_options options = limited(dir, SONDE_FULL_STOP);
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("stop", &options, &session), SONDE_OK);
    load_board *board = load_board_new();
    load_run(board, 2, 100000);
    sonde_flush(session, 0, 5000000000u);
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    assert_int_equal(stats.stopped, 1);
    assert_int_equal(stats.last_error, SONDE_OK);
    check(dir, "stop", 200002); /* while it is open: from the segment */
    sonde_close(session);
    load_result result = check(dir, "stop", 200002);
    assert_true(result.lost > 50000);
    assert_int_equal(result.lost, stats.lost);
    uint64_t bytes;
    files_in(dir, &bytes);
    assert_true(bytes < LIMIT + 2048); /* what tells the loss and the end */
    munmap(board, sizeof *board);
    remove_folder(dir);
}

static void keeps_the_last(void **state)
{
    (void)state;
    char *dir = make_folder();
    sonde_options options = limited(dir, SONDE_FULL_KEEP_LAST);
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("last", &options, &session), SONDE_OK);
    load_board *board = load_board_new();
    load_run(board, 2, 100000);
    sonde_flush(session, 0, 5000000000u);
    check(dir, "last", 200002);
    sonde_close(session);
    load_result result = check(dir, "last", 200002);
    assert_true(result.lost > 50000);
    assert_int_equal(result.outer, 2); /* they ended last */
    uint64_t bytes;
    unsigned files = files_in(dir, &bytes);
    assert_true(files > 4 && files < 20);
    assert_true(bytes < LIMIT + 2 * PART && bytes > LIMIT / 2);
    munmap(board, sizeof *board);
    remove_folder(dir);
}

/* Who follows sees what is removed behind it, and keeps no files open that are gone. */
static void a_follower_keeps_up(void **state)
{
    (void)state;
    char *dir = make_folder();
    sonde_options options = limited(dir, SONDE_FULL_KEEP_LAST);
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("follow", &options, &session), SONDE_OK);
    sonde_flush(session, 0, 5000000000u);
    sonde_reader *reader = read_in(dir, "follow");
    uint64_t seen = 0;
    uint64_t lost = 0;
    sonde_record r;
    for (int round = 0; round < 120; round++) {
        for (int i = 0; i < 5000; i++) {
            sonde_task task = sonde_task_begin(SONDE_NAME("work"));
            sonde_task_int(task, SONDE_USED, SONDE_NAME("i"), i);
            sonde_task_end(task);
        }
        assert_int_equal(sonde_flush(session, 0, 5000000000u), SONDE_OK);
        if (round % 16 == 15) /* it stays behind now and then */
            continue;
        while (sonde_reader_follow(reader, 0) == SONDE_OK)
            while (sonde_reader_next(reader, &r) == SONDE_OK) {
                seen += r.kind == SONDE_RECORD_TASK;
                lost += r.kind == SONDE_RECORD_LOSS ? r.count : 0;
            }
    }
    sonde_reader_stats stats;
    sonde_reader_stats_get(reader, &stats);
    assert_int_equal(stats.missing, 0);
    assert_int_equal(seen + lost, 600000);
    sonde_session_stats now;
    sonde_session_stats_get(session, &now);
    unsigned open_files = 0;
    DIR *fds = opendir("/proc/self/fd");
    while (readdir(fds))
        open_files++;
    closedir(fds);
    print_message("%u files open, %u parts\n", open_files, now.part);
    assert_true(now.part > 100 && open_files < 70); /* two readers: the session's own log, too */
    sonde_reader_close(reader);
    sonde_close(session);
    remove_folder(dir);
}

/* kill -9 at random moments, at the limit and while parts come and go. */
static void killed(void **state, sonde_when_full when_full, const char *name)
{
    (void)state;
    for (unsigned round = 0; round < soak(8, 100); round++) {
        char *dir = make_folder();
        load_board *board = load_board_new();
        pid_t pid = fork();
        if (pid == 0) {
            sonde_options options = limited(dir, when_full);
            sonde_session *session = NULL;
            if (sonde_open(name, &options, &session) != SONDE_OK)
                _exit(9);
            load_run(board, 2, 0);
        }
        for (int i = 0; atomic_load(&board->outer) < 2 && i < 100000; i++)
            nanosleep(&(struct timespec){0, 100000}, NULL);
        nanosleep(&(struct timespec){0, rand() % 120000000}, NULL);
        kill(pid, SIGKILL);
        int status;
        waitpid(pid, &status, 0);
        assert_true(WIFSIGNALED(status));
        uint64_t sent = atomic_load(&board->ended[0]) + atomic_load(&board->ended[1]);
        load_result first = load_check(dir, name, NULL, true);
        load_result again = load_check(dir, name, NULL, true);
        uint64_t all = first.stored + first.lost;
        assert_true(all >= sent && all <= sent + 2); /* ends that were under way */
        assert_int_equal(first.open_outer, 2);
        assert_int_equal(again.stored, first.stored);
        assert_int_equal(again.lost, first.lost);
        assert_int_equal(segments_left(), 0);
        munmap(board, sizeof *board);
        remove_folder(dir);
    }
}

static void killed_at_the_limit(void **state)
{
    killed(state, SONDE_FULL_STOP, "killedstop");
}

static void killed_while_parts_go(void **state)
{
    killed(state, SONDE_FULL_KEEP_LAST, "killedlast");
}

/* In memory: nothing of the process is in shared memory, and the journal is written as ever. */
static void safety_memory(void **state)
{
    (void)state;
    char *dir = make_folder();
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.safety = SONDE_SAFETY_MEMORY;
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("memory", &options, &session), SONDE_OK);
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    assert_int_equal(stats.shared_memory, 0);
    assert_int_equal(stats.segment, SONDE_EOFF);
    assert_int_equal(segments_left(), 0);
    load_board *board = load_board_new();
    load_run(board, 2, 1000);
    sonde_close(session);
    assert_int_equal(load_check(dir, "memory", NULL, false).stored, 2000);
    munmap(board, sizeof *board);
    remove_folder(dir);
}

static void durable_parts(void **state)
{
    (void)state;
    char *dir = make_folder();
    sonde_options options = limited(dir, SONDE_FULL_KEEP_LAST);
    options.safety = SONDE_SAFETY_DURABLE;
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("durable", &options, &session), SONDE_OK);
    load_board *board = load_board_new();
    load_run(board, 2, 50000);
    sonde_close(session);
    check(dir, "durable", 100002);
    munmap(board, sizeof *board);
    remove_folder(dir);
}

static void settings_say_so(void **state)
{
    (void)state;
    char *dir = make_folder();
    char path[600];
    snprintf(path, sizeof path, "%s/settings.yaml", dir);
    FILE *file = fopen(path, "w");
    fputs("session:\n  safety: memory\n  part_bytes: 65536\n  bytes_max: 1048576\n"
          "  when_full: keep_last\n  zstd_level: 1\n",
          file);
    fclose(file);
    setenv("SONDE_SETTINGS", path, 1);
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.full_wait_ns = 30000000000u;
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("settings", &options, &session), SONDE_OK);
    load_board *board = load_board_new();
    load_run(board, 1, 400000);
    sonde_session_stats stats;
    sonde_flush(session, 0, 5000000000u);
    sonde_session_stats_get(session, &stats);
    sonde_close(session);
    unsetenv("SONDE_SETTINGS");
    assert_int_equal(stats.segment, SONDE_EOFF);
    assert_true(stats.part > 16);
    assert_true(stats.journal_bytes < LIMIT + 2 * PART);
    check(dir, "settings", 400001);
    options.bytes_max = 1000;
    assert_int_equal(sonde_open("settings", &options, &session), SONDE_EINVAL);
    munmap(board, sizeof *board);
    remove_folder(dir);
}

/* True when sonde dump says that it cannot read the session where there is no libzstd. */
static bool complains_without_zstd(const char *dir)
{
    char command[2000];
    char line[400] = "";
    snprintf(command, sizeof command,
             "LD_LIBRARY_PATH=%s %s/sonde dump %s/zstd.sonde 2>&1 >/dev/null", SONDE_NO_ZSTD,
             SONDE_BIN_DIR, dir);
    FILE *out = popen(command, "r");
    bool told = false;
    while (fgets(line, sizeof line, out))
        told = told || strstr(line, "libzstd.so.1") != NULL;
    pclose(out);
    return told;
}

/* Compressed frames say the same, in a third of the bytes. */
static void compressed(void **state)
{
    (void)state;
    uint64_t bytes[2] = {0};
    for (int zstd = 0; zstd < 2; zstd++) {
        char *dir = make_folder();
        sonde_options options = SONDE_OPTIONS_DEFAULT;
        options.dir = dir;
        options.full_wait_ns = 30000000000u;
        options.zstd_level = zstd ? 3 : -1;
        sonde_session *session = NULL;
        assert_int_equal(sonde_open("zstd", &options, &session), SONDE_OK);
        load_board *board = load_board_new();
        load_run(board, 2, 40000);
        sonde_session_stats stats;
        sonde_session_stats_get(session, &stats);
        assert_int_equal(stats.compression, SONDE_OK);
        sonde_close(session);
        load_result result = check(dir, "zstd", 80002);
        assert_int_equal(result.lost, 0);
        assert_int_equal(complains_without_zstd(dir), zstd);
        bytes[zstd] = result.stats.bytes;
        munmap(board, sizeof *board);
        remove_folder(dir);
    }
    print_message("plain %llu bytes, compressed %llu\n", (unsigned long long)bytes[0],
                  (unsigned long long)bytes[1]);
    assert_true(bytes[1] * 2 < bytes[0]);
}

/* Attributes of a workflow that have no room are counted; those that have are kept. */
static void large_attributes(void **state)
{
    (void)state;
    char *dir = make_folder();
    static char text[8000];
    memset(text, 'x', sizeof text);
    sonde_attr attrs[3] = {
        {.key = "one", .type = SONDE_ATTR_INT, .group = SONDE_USED, .value.i = 1},
        {.key = "huge", .type = SONDE_ATTR_STRING, .group = SONDE_USED},
        {.key = "two", .type = SONDE_ATTR_INT, .group = SONDE_USED, .value.i = 2},
    };
    attrs[1].value.s.data = text;
    attrs[1].value.s.len = sizeof text;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = dir;
    options.attrs = attrs;
    options.attr_count = 3;
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("large", &options, &session), SONDE_OK);
    sonde_close_with(session, SONDE_FINISHED, NULL, attrs + 1, 1); /* here there is room */
    sonde_reader *reader = read_in(dir, "large");
    const sonde_run *run = sonde_reader_run(reader, 0);
    assert_int_equal(run->attrs_left_out, 1);
    assert_int_equal(run->attr_count, 3);
    assert_int_equal(run->attrs[2].value.s.len, sizeof text);
    sonde_reader_close(reader);
    remove_folder(dir);
}

int main(void)
{
    private_shm(shm);
    srand((unsigned)time(NULL));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_parts_are_one_session),
        cmocka_unit_test(stops_at_the_limit),
        cmocka_unit_test(keeps_the_last),
        cmocka_unit_test(a_follower_keeps_up),
        cmocka_unit_test(killed_at_the_limit),
        cmocka_unit_test(killed_while_parts_go),
        cmocka_unit_test(safety_memory),
        cmocka_unit_test(durable_parts),
        cmocka_unit_test(settings_say_so),
        cmocka_unit_test(compressed),
        cmocka_unit_test(large_attributes),
    };
    int failed = cmocka_run_group_tests_name("record_parts", tests, NULL, NULL);
    rmdir(shm);
    return failed;
}
