/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics that last: what was committed is there, whole commits only, whatever happened to the file
   or to who wrote it; several processes at once. */
#include "attributes_test.h"

#include "attributes/usage_frame.h"
#include "attributes/usage_map.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/sonde-usage-XXXXXX";
static char path[sizeof folder + 16];
static char path_new[sizeof path + 4];
static sonde_processor *processor;

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/usage", folder);
    snprintf(path_new, sizeof path_new, "%s.new", path);
    return sonde_processor_create(NULL, &processor, NULL) == SONDE_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sonde_processor_destroy(processor);
    unlink(path);
    return rmdir(folder);
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(access(path_new, F_OK), -1); /* compaction leaves nothing behind */
    return 0;
}

static sonde_usage_file *open_file(void)
{
    sonde_usage_file *file = NULL;
    assert_int_equal(sonde_usage_file_open(path, 0, &file), SONDE_OK);
    return file;
}

static void count(sonde_usage_file *file, const char *json)
{
    assert_int_equal(count_json(processor, sonde_usage_file_pending(file), json, NULL), SONDE_OK);
}

static const sonde_usage *view_of(sonde_usage_file *file)
{
    const sonde_usage *view = NULL;
    assert_int_equal(sonde_usage_file_refresh(file, &view), SONDE_OK);
    return view;
}

static off_t size_of_file(void)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

/* The metric as a handle of its own reads it. */
static void assert_lasting(const char *metric, int64_t expected)
{
    sonde_usage_file *file = open_file();
    assert_metric(view_of(file), metric, expected);
    sonde_usage_file_close(file);
}

static void what_is_committed_lasts(void **state)
{
    (void)state;
    sonde_usage_file *file = open_file();
    count(file, "{\"action\": \"a\", \"time_lapsed\": 10}");
    count(file, "{\"action\": \"a\", \"time_lapsed\": 2.5}");
    assert_int_equal(sonde_usage_count(view_of(file)), 0);
    assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
    assert_int_equal(sonde_usage_count(sonde_usage_file_pending(file)), 0);
    assert_int_equal(sonde_usage_file_commit(file), SONDE_OK); /* of nothing */
    count(file, "{\"action\": \"a\"}");                        /* and never committed */
    sonde_usage_file_close(file);
    assert_lasting("total_action_a_fail", 2);
    file = open_file();
    double seconds;
    assert_int_equal(sonde_usage_get(view_of(file), "time_lapsed_today", &seconds), SONDE_OK);
    assert_true(seconds == 12.5);
    assert_int_equal(sonde_usage_records(view_of(file)), 2);
    sonde_datetime last;
    assert_int_equal(sonde_usage_last_updated(view_of(file), &last), SONDE_OK);
    sonde_usage_file_close(file);
}

static void handles_see_each_other(void **state)
{
    (void)state;
    sonde_usage_file *one = open_file();
    sonde_usage_file *other = open_file();
    for (int i = 0; i < 5; i++) {
        count(one, "{\"action\": \"a\"}");
        count(other, "{\"action\": \"a\"}");
        assert_int_equal(sonde_usage_file_commit(one), SONDE_OK);
        assert_int_equal(sonde_usage_file_commit(other), SONDE_OK);
    }
    assert_metric(view_of(one), "total_action_a_fail", 10);
    assert_metric(view_of(other), "total_action_a_fail", 10);
    sonde_usage_file_close(one);
    sonde_usage_file_close(other);
}

/* Days change in the order of the file, whoever wrote. */
static void a_day_begins_anew_once(void **state)
{
    (void)state;
    static const struct {
        int who;
        const char *now;
        int seconds;
        int64_t today;
    } steps[] = {
        {0, "2025-03-15T10:00:00", 10, 10}, {1, "2025-03-15T11:00:00", 5, 15},
        {1, "2025-03-16T00:10:00", 7, 7},   {0, "2025-03-16T00:20:00", 1, 8},
        {0, "2025-04-16T00:20:00", 3, 3},
    };
    sonde_usage_file *files[] = {open_file(), open_file()};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        char record[64];
        sonde_build_context context = {.now.year = 0};
        sonde_usage_file *file = files[steps[i].who];
        snprintf(record, sizeof record, "{\"time_lapsed\": %d}", steps[i].seconds);
        sonde_datetime_parse(steps[i].now, strlen(steps[i].now), &context.now);
        assert_int_equal(sonde_processor_process_json(processor, sonde_usage_file_pending(file),
                                                      record, strlen(record), &context, NULL),
                         SONDE_OK);
        assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
        assert_lasting("time_lapsed_today", steps[i].today);
    }
    sonde_usage_file_close(files[0]);
    sonde_usage_file_close(files[1]);
}

/* A file cut at every length: what was committed before the cut is there, the rest is not, and the
   next commit takes its place. */
static void a_torn_commit_counts_not_at_all(void **state)
{
    (void)state;
    sonde_usage_file *file = open_file();
    count(file, "{\"action\": \"a\"}");
    sonde_usage_file_commit(file);
    off_t first = size_of_file();
    count(file, "{\"action\": \"a\"}");
    sonde_usage_file_commit(file);
    off_t second = size_of_file();
    sonde_usage_file_close(file);
    slice whole = read_whole(path);
    for (off_t cut = 0; cut <= second; cut++) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(write(fd, whole.text, (size_t)cut), cut);
        close(fd);
        int64_t before = cut == second ? 2 : cut >= first ? 1 : 0;
        file = open_file();
        if (before > 0)
            assert_metric(view_of(file), "total_action_a_fail", before);
        count(file, "{\"action\": \"a\"}");
        assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
        sonde_usage_file_close(file);
        assert_lasting("total_action_a_fail", before + 1);
    }
    free((void *)(uintptr_t)whole.text);
}

/* Any byte of a commit in the middle turned over: that commit is lost, its neighbours are not. */
static void damage_costs_one_commit(void **state)
{
    (void)state;
    off_t ends[3];
    sonde_usage_file *file = open_file();
    for (int i = 0; i < 3; i++) {
        count(file, "{\"action\": \"a\"}");
        sonde_usage_file_commit(file);
        ends[i] = size_of_file();
    }
    sonde_usage_file_close(file);
    int fd = open(path, O_RDWR);
    for (off_t at = ends[0]; at < ends[1]; at += 3) {
        char byte;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte = (char)~byte;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        assert_lasting("total_action_a_fail", 2);
        byte = (char)~byte;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
    assert_lasting("total_action_a_fail", 3);
}

static void other_files_are_left_alone(void **state)
{
    (void)state;
    static const char text[] = "my thesis";
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, text, sizeof text), sizeof text);
    close(fd);
    sonde_usage_file *file = NULL;
    assert_int_equal(sonde_usage_file_open(path, 0, &file), SONDE_EBADDATA);
    assert_int_equal(size_of_file(), sizeof text);
    assert_int_equal(sonde_usage_file_open(folder, 0, &file), SONDE_EBADDATA);
    assert_int_equal(sonde_usage_file_open("/nowhere/usage", 0, &file), SONDE_EABSENT);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(sonde_usage_file_open(path, 0, &file), SONDE_EBADDATA);
}

/* Commits of a few metrics, thousands of them: the file stays small, and others follow it. */
static void compaction_keeps_the_sum_and_the_file_small(void **state)
{
    (void)state;
    enum { COMMITS = 8000 };
    sonde_usage_file *file = open_file();
    sonde_usage_file *other = open_file();
    for (int i = 0; i < COMMITS; i++) {
        count(file, "{\"action\": \"a\", \"network\": \"resnet\"}");
        assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
        if (i % 1000 == 0) {
            count(other, "{\"action\": \"b\"}");
            assert_int_equal(sonde_usage_file_commit(other), SONDE_OK);
        }
    }
    assert_metric(view_of(other), "total_action_a_fail", COMMITS);
    assert_metric(view_of(other), "total_action_b_fail", COMMITS / 1000);
    assert_int_equal(sonde_usage_records(view_of(other)), COMMITS + COMMITS / 1000);
    assert_true(size_of_file() < 3 << 20);
    sonde_usage_file_close(file);
    sonde_usage_file_close(other);
    assert_lasting("total_action_a_fail", COMMITS);
}

/* More than one frame holds. */
static void a_large_commit_is_whole(void **state)
{
    (void)state;
    enum { KINDS = 30000 };
    sonde_usage_file *file = open_file();
    for (int i = 0; i < KINDS; i++) {
        char record[64];
        snprintf(record, sizeof record, "{\"action\": \"a%d\"}", i);
        count(file, record);
    }
    assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
    sonde_usage_file_close(file);
    off_t size = size_of_file();
    assert_true(size > 2 * SONDE__USAGE_FRAME_FULL);
    assert_lasting("total_action_a29999_fail", 1);
    /* without its last frame nothing of it counts */
    assert_int_equal(truncate(path, size - 1), 0);
    file = open_file();
    assert_int_equal(sonde_usage_count(view_of(file)), 0);
    sonde_usage_file_close(file);
}

static void a_full_disk_adds_nothing_and_can_be_tried_again(void **state)
{
    (void)state;
    sonde_usage_file *file = open_file();
    count(file, "{\"action\": \"a\"}");
    assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
    off_t size = size_of_file();
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    count(file, "{\"action\": \"a\"}");
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)size + 100, old.rlim_max});
    assert_int_equal(sonde_usage_file_commit(file), SONDE_ELIMIT);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(size_of_file(), size);
    assert_lasting("total_action_a_fail", 1);
    assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
    sonde_usage_file_close(file);
    assert_lasting("total_action_a_fail", 2);
}

static void a_file_that_was_removed_is_made_again(void **state)
{
    (void)state;
    sonde_usage_file *file = open_file();
    count(file, "{\"action\": \"a\"}");
    sonde_usage_file_commit(file);
    assert_int_equal(unlink(path), 0);
    count(file, "{\"action\": \"a\"}");
    assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
    sonde_usage_file_close(file);
    assert_lasting("total_action_a_fail", 1);
}

static void a_document_is_imported(void **state)
{
    (void)state;
    static const char document[] = "{\"total_action_a_fail\": 40, \"note\": \"kept\", \"x\": 1.5, "
                                   "\"last_updated\": \"2025-03-15T12:00:00\"}";
    sonde_usage_file *file = open_file();
    sonde_usage_import did;
    count(file, "{\"action\": \"a\"}");
    sonde_usage_file_commit(file);
    sonde_status status = sonde_usage_file_import(file, document, sizeof document - 1,
                                                  SONDE_IMPORT_DRY_RUN, &did, NULL);
    assert_int_equal(status, SONDE_OK);
    assert_int_equal(did.added, 2);
    assert_int_equal(did.changed, 1);
    assert_lasting("total_action_a_fail", 1);
    status = sonde_usage_file_import(file, document, sizeof document - 1, 0, &did, NULL);
    assert_int_equal(status, SONDE_OK);
    count(file, "{\"action\": \"a\"}");
    assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
    assert_lasting("total_action_a_fail", 41);
    assert_lasting("version_unknown_action_a", 2);
    status = sonde_usage_file_import(file, document, sizeof document - 1, SONDE_IMPORT_REPLACE,
                                     &did, NULL);
    assert_int_equal(status, SONDE_OK);
    assert_int_equal(did.removed, 5);
    char *json = NULL;
    size_t len;
    assert_int_equal(sonde_usage_to_json(view_of(file), &json, &len), SONDE_OK);
    assert_string_equal(json, "{\"total_action_a_fail\":40,\"note\":\"kept\",\"x\":1.5,"
                              "\"last_updated\":\"2025-03-15T12:00:00\"}");
    free(json);
    /* a metric that is text refuses the record that would add to it, here as in memory */
    static const char text[] = "{\"total_action_a_fail\": \"5\"}";
    sonde_usage_file_import(file, text, sizeof text - 1, 0, NULL, NULL);
    assert_int_equal(
        count_json(processor, sonde_usage_file_pending(file), "{\"action\": \"a\"}", NULL),
        SONDE_EBADDATA);
    sonde_usage_file_close(file);
}

static void the_limit_counts_what_is_in_the_file(void **state)
{
    (void)state;
    sonde_usage_file *file = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sonde_usage_file_open(path, 8, &file), SONDE_OK);
        for (int j = 0; j < 2; j++) {
            char record[32];
            snprintf(record, sizeof record, "{\"action\": \"a%d\"}", j);
            count(file, record);
        }
        assert_int_equal(sonde_usage_file_commit(file), SONDE_OK);
        assert_int_equal(sonde_usage_count(view_of(file)), 8);
        assert_int_equal(sonde_usage_overflow(view_of(file)), 3 * (i + 1));
        sonde_usage_file_close(file);
    }
    assert_lasting("total_action_a0_fail", 3);
    assert_lasting("total_action_a1_fail", 3);
}

/* Processes that add to one file; one of them is killed somewhere on its way. */
enum { PROCESSES = 4, BATCH = 100 };

typedef struct shared {
    _Atomic int committed[PROCESSES]; /* records of commits that have returned */
} shared;

static void add_records(int who, int records, shared *with)
{
    sonde_usage_file *file = NULL;
    char record[128];
    if (sonde_usage_file_open(path, 0, &file) != SONDE_OK)
        _exit(2);
    snprintf(record, sizeof record,
             "{\"action\": \"p%d\", \"gpu\": [\"A100\", \"A100\"], \"time_lapsed\": 1}", who);
    for (int i = 0; i < records; i++) {
        if (count_json(processor, sonde_usage_file_pending(file), record, NULL) != SONDE_OK)
            _exit(3);
        if ((i + 1) % BATCH == 0) {
            if (sonde_usage_file_commit(file) != SONDE_OK)
                _exit(4);
            with->committed[who] = i + 1;
        }
    }
    sonde_usage_file_close(file);
    _exit(0);
}

/* All metrics of a process say the same number of records: commits are whole. */
static int64_t records_of(const sonde_usage *view, int who)
{
    static const struct {
        const char *format;
        int factor;
    } metrics[] = {{"total_action_p%d_fail", 1},
                   {"version_unknown_action_p%d", 1},
                   {"network_unknown_action_p%d", 1},
                   {"gpu_a100_action_p%d", 2}};
    int64_t records = -1;
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        char name[64];
        const char *number = strstr(metrics[i].format, "%d");
        snprintf(name, sizeof name, "%.*s%d%s", (int)(number - metrics[i].format),
                 metrics[i].format, who, number + 2);
        int64_t value = 0;
        sonde_usage_get_int(view, name, &value);
        assert_int_equal(value % metrics[i].factor, 0);
        value /= metrics[i].factor;
        assert_true(records == -1 || records == value);
        records = value;
    }
    return records;
}

static void processes_add_exactly_though_one_is_killed(void **state)
{
    (void)state;
    const int records = 100000;
    shared *with =
        mmap(NULL, sizeof *with, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(with, MAP_FAILED);
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            add_records(i, records, with);
    }
    /* somewhere in its way: when it has done a part that differs from run to run */
    int enough = BATCH * (1 + (int)(getpid() % (records / BATCH / 2)));
    while (with->committed[0] < enough)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    kill(pids[0], SIGKILL);
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(i == 0 ? WIFSIGNALED(status) || status == 0 : status, i == 0);
    }
    sonde_usage_file *file = open_file();
    const sonde_usage *view = view_of(file);
    int64_t all = 0;
    for (int i = 0; i < PROCESSES; i++) {
        int64_t counted = records_of(view, i);
        int64_t committed = with->committed[i];
        /* the one killed may have died between its commit and saying so */
        assert_true(counted == committed || (i == 0 && counted == committed + BATCH));
        assert_true(i == 0 || counted == records);
        all += counted;
    }
    assert_int_equal(sonde_usage_records(view), all);
    assert_metric(view, "time_lapsed_today", all);
    sonde_usage_file_close(file);
    munmap(with, sizeof *with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_committed_lasts, remove_file),
        cmocka_unit_test_teardown(handles_see_each_other, remove_file),
        cmocka_unit_test_teardown(a_day_begins_anew_once, remove_file),
        cmocka_unit_test_teardown(a_torn_commit_counts_not_at_all, remove_file),
        cmocka_unit_test_teardown(damage_costs_one_commit, remove_file),
        cmocka_unit_test_teardown(other_files_are_left_alone, remove_file),
        cmocka_unit_test_teardown(compaction_keeps_the_sum_and_the_file_small, remove_file),
        cmocka_unit_test_teardown(a_large_commit_is_whole, remove_file),
        cmocka_unit_test_teardown(a_full_disk_adds_nothing_and_can_be_tried_again, remove_file),
        cmocka_unit_test_teardown(a_file_that_was_removed_is_made_again, remove_file),
        cmocka_unit_test_teardown(a_document_is_imported, remove_file),
        cmocka_unit_test_teardown(the_limit_counts_what_is_in_the_file, remove_file),
        cmocka_unit_test_teardown(processes_add_exactly_though_one_is_killed, remove_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
