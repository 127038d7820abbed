/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of another process, and files that only look like them. */
#include "metric_test.h"
#include "record/metric_frame.h"
#include "record/metric_store.h"
#include "sonde/sonde.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process with a session and some metrics; tells when it is ready, waits for a byte. */
static void peer(int tell, int wait)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = getenv("SONDE_TEST_DIR");
    sonde_session *session = NULL;
    if (sonde_open("peer", &options, &session) != SONDE_OK)
        _exit(1);
    sonde_counter_add(sonde_counter_get("peer_total", "Of the peer", SONDE_LABELS("a", "b")), 41);
    sonde_gauge_set(sonde_gauge_get("peer_level", NULL, NULL), -1.5);
    sonde_histogram *histogram = sonde_histogram_get("peer_seconds", NULL, NULL);
    for (int i = 1; i <= 100; i++)
        sonde_histogram_observe(histogram, i);
    char byte = 'r';
    if (write(tell, &byte, 1) != 1 || read(wait, &byte, 1) != 1)
        _exit(2);
    sonde_counter_add(sonde_counter_get("peer_total", NULL, SONDE_LABELS("a", "b")), 1);
    if (write(tell, &byte, 1) != 1 || read(wait, &byte, 1) != 1)
        _exit(3);
    sonde_close(session);
    _exit(0);
}

/* All that sessions left. */
static int empty_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -f %s/*", getenv("SONDE_TEST_DIR"));
    return system(command);
}

/* Each session of a process shows the same metrics to others, and none when it is closed. */
static void test_second_session(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = getenv("SONDE_TEST_DIR");
    sonde_metric_set *set = sonde_metric_set_create();
    for (uint64_t i = 1; i <= 3; i++) {
        sonde_session *session = NULL;
        assert_int_equal(sonde_open("again", &options, &session), SONDE_OK);
        sonde_counter_inc(sonde_counter_get("again_total", NULL, NULL));
        assert_int_equal(sonde_metric_set_read_pid(set, getpid()), SONDE_OK);
        assert_int_equal(sonde_metric_set_find(set, "again_total", NULL)->counter, i);
        sonde_close(session);
        assert_int_equal(sonde_metric_set_read_pid(set, getpid()), SONDE_EABSENT);
    }
    sonde_metric_set_destroy(set);
}

static void test_reads_another_process(void **state)
{
    (void)state;
    int up[2];
    int down[2];
    assert_int_equal(pipe(up), 0);
    assert_int_equal(pipe(down), 0);
    pid_t child = fork();
    if (child == 0)
        peer(up[1], down[0]);
    char byte = 'g';
    assert_int_equal(read(up[0], &byte, 1), 1);
    sonde_metric_set *set = sonde_metric_set_create();
    assert_int_equal(sonde_metric_set_read_pid(set, child), SONDE_OK);
    const sonde_metric *counter = sonde_metric_set_find(set, "peer_total", SONDE_LABELS("a", "b"));
    assert_int_equal(counter->counter, 41);
    assert_string_equal(counter->help, "Of the peer");
    assert_same(sonde_metric_set_find(set, "peer_level", NULL)->gauge, -1.5);
    const sonde_distribution *all = sonde_metric_set_find(set, "peer_seconds", NULL)->histogram;
    assert_int_equal(all->count, 100);
    assert_same(all->sum, 5050);
    assert_same(sonde_distribution_percentile(all, 100), 100);
    /* what it adds is there at once, without its drain */
    assert_int_equal(write(down[1], &byte, 1), 1);
    assert_int_equal(read(up[0], &byte, 1), 1);
    assert_int_equal(sonde_metric_set_read_pid(set, child), SONDE_OK);
    assert_int_equal(sonde_metric_set_find(set, "peer_total", NULL)->counter, 42);
    assert_int_equal(write(down[1], &byte, 1), 1);
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(sonde_metric_set_read_pid(set, child), SONDE_EABSENT);
    sonde_metric_set_destroy(set);
}

/* --- the journal --- */

/* The last value of each series that the test looks at, in all metrics frames of a journal. */
typedef struct journal_values {
    unsigned frames;
    uint64_t counter;
    double gauge;
    uint64_t count;
    double p100;
    uint64_t wall_ns;
} journal_values;

static void take_value(void *user, uint64_t wall_ns, const sonde_metric *metric)
{
    journal_values *values = user;
    values->wall_ns = wall_ns;
    if (strcmp(metric->name, "peer_total") == 0)
        values->counter = metric->counter;
    else if (strcmp(metric->name, "peer_level") == 0)
        values->gauge = metric->gauge;
    else if (strcmp(metric->name, "peer_seconds") == 0) {
        values->count = metric->histogram->count;
        values->p100 = sonde_distribution_percentile(metric->histogram, 100);
    }
}

static journal_values read_journal(const char *path)
{
    static uint8_t bytes[1 << 20];
    journal_values values = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    size_t length = 0;
    for (size_t at = 0; at < len; at += length) {
        assert_int_equal(sonde__frame_check(bytes + at, len - at, &length), SONDE_OK);
        sonde__frame_header header;
        memcpy(&header, bytes + at, sizeof header);
        if (header.type != SONDE__FRAME_METRICS)
            continue;
        assert_int_equal(sonde__metric_frame_read(bytes + at, take_value, &values), SONDE_OK);
        values.frames++;
        for (int i = 0; i < 200; i++) { /* damaged bytes are refused or read, never more */
            static uint8_t bad[1 << 20];
            memcpy(bad, bytes + at, length);
            bad[sizeof header + (size_t)rand() % (length - sizeof header)] = (uint8_t)rand();
            journal_values ignored = {0};
            (void)sonde__metric_frame_read(bad, take_value, &ignored);
        }
    }
    return values;
}

static void count_lines(void *user, const sonde_recovery *what)
{
    *(int *)user += what->status == SONDE_OK;
}

/* A process that dies leaves its metrics as they were; recovery puts them into the journal. */
static void test_metrics_of_a_dead_process(void **state)
{
    (void)state;
    int up[2];
    int down[2];
    assert_int_equal(pipe(up), 0);
    assert_int_equal(pipe(down), 0);
    pid_t child = fork();
    if (child == 0)
        peer(up[1], down[0]);
    char byte = 'g';
    assert_int_equal(read(up[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    int recovered = 0;
    const char *folder = getenv("SONDE_TEST_DIR");
    assert_int_equal(sonde_recover(folder, count_lines, &recovered), SONDE_OK);
    assert_int_equal(recovered, 1);
    char path[256];
    snprintf(path, sizeof path, "%s/peer.sonde", folder);
    journal_values values = read_journal(path);
    assert_int_equal(values.frames, 1);
    assert_int_equal(values.counter, 41);
    assert_same(values.gauge, -1.5);
    assert_int_equal(values.count, 100);
    assert_same(values.p100, 100);
    sonde_metric_set *set = sonde_metric_set_create();
    assert_int_equal(sonde_metric_set_read_pid(set, child), SONDE_EABSENT);
    sonde_metric_set_destroy(set);
}

/* Each interval what has changed, at the end everything. */
static void test_metrics_go_into_the_journal(void **state)
{
    (void)state;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = getenv("SONDE_TEST_DIR");
    options.metrics_interval_ns = 20000000;
    sonde_session *session = NULL;
    assert_int_equal(sonde_open("peer", &options, &session), SONDE_OK);
    sonde_counter *counter = sonde_counter_get("peer_total", NULL, SONDE_LABELS("a", "b"));
    for (int i = 0; i < 20; i++) {
        sonde_counter_inc(counter);
        usleep(10000);
    }
    char path[256];
    snprintf(path, sizeof path, "%s", sonde_session_path(session));
    sonde_close(session);
    journal_values values = read_journal(path);
    assert_true(values.frames >= 3);
    assert_int_equal(values.counter, 20);
    assert_true(values.wall_ns > 1600000000000000000u);
    /* and the reader of records does not mind them */
    sonde_reader *reader;
    sonde_record record;
    sonde_reader_stats stats;
    assert_int_equal(sonde_reader_open(path, NULL, &reader), SONDE_OK);
    while (sonde_reader_next(reader, &record) == SONDE_OK)
        ;
    sonde_reader_stats_get(reader, &stats);
    assert_int_equal(stats.refused + stats.bad_bytes, 0);
    sonde_reader_close(reader);
}

/* --- files that are not what they say --- */

static uint64_t fake_run = 0x1234567890abcdefu;

static void write_file(const void *data, size_t len, uint64_t size)
{
    char path[SONDE__METRIC_PATH_BYTES];
    sonde__metric_store_path(fake_run, path);
    unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, len, 0), (ssize_t)len);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    close(fd);
}

static void remove_file(void)
{
    char path[SONDE__METRIC_PATH_BYTES];
    sonde__metric_store_path(fake_run, path);
    unlink(path);
}

typedef struct fake {
    union {
        sonde__metric_header header;
        uint8_t page[4096];
    };
    uint8_t series[4096];
} fake;

static fake good_file(void)
{
    fake file;
    memset(&file, 0, sizeof file);
    memcpy(file.header.magic, SONDE__METRIC_MAGIC, 8);
    file.header.layout = SONDE__METRIC_LAYOUT;
    file.header.lanes_max = 4;
    return file;
}

static sonde_status read_fake(const fake *file)
{
    sonde_metric_set *set = sonde_metric_set_create();
    write_file(file, sizeof *file, sonde__metric_layout_of(4).size);
    sonde_status status = sonde_metric_set_read_run(set, fake_run);
    assert_true(status == SONDE_OK || sonde_metric_set_count(set) == 0);
    sonde_metric_set_destroy(set);
    return status;
}

static void test_hostile_files_are_refused(void **state)
{
    (void)state;
    fake file = good_file();
    assert_int_equal(read_fake(&file), SONDE_OK);
    file.header.layout = 99;
    assert_int_equal(read_fake(&file), SONDE_EUNSUPPORTED);
    file = good_file();
    file.header.magic[0] = 'X';
    assert_int_equal(read_fake(&file), SONDE_EBADDATA);
    file = good_file();
    file.header.lanes_max = 1000000;
    assert_int_equal(read_fake(&file), SONDE_EBADDATA);
    file = good_file();
    file.header.lanes_max = 5; /* the size is not that of five */
    assert_int_equal(read_fake(&file), SONDE_EBADDATA);
    file = good_file();
    atomic_store(&file.header.series_end, UINT64_MAX);
    assert_int_equal(read_fake(&file), SONDE_EBADDATA);
    file = good_file();
    atomic_store(&file.header.series_end, 64);
    assert_int_equal(read_fake(&file), SONDE_EBADDATA); /* a description of 0 bytes */
    write_file("short", 5, 5);
    sonde_metric_set *set = sonde_metric_set_create();
    assert_int_equal(sonde_metric_set_read_run(set, fake_run), SONDE_EBADDATA);
    sonde_metric_set_destroy(set);
    remove_file();
}

/* Random bytes in descriptions and counts: refused or read, never a crash. */
static void test_random_bytes(void **state)
{
    (void)state;
    srand(3);
    for (int round = 0; round < 2000; round++) {
        fake file = good_file();
        size_t first = offsetof(sonde__metric_header, run);
        for (int i = 0; i < 40; i++)
            ((uint8_t *)&file)[first + (size_t)rand() % (sizeof file - first)] = (uint8_t)rand();
        atomic_store(&file.header.series_end, (uint64_t)(rand() % 200));
        for (int i = 0; i < 200; i++)
            file.series[i] = (uint8_t)(rand() % 4 ? 0 : rand());
        uint32_t bytes = (uint32_t)(rand() % 12) * 8;
        memcpy(file.series, &bytes, sizeof bytes);
        file.series[8] = (uint8_t)(1 + rand() % 3);
        read_fake(&file);
    }
    remove_file();
}

static char dir[] = "/tmp/sonde-peer-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    bool ready = mkdtemp(dir) && setenv("SONDE_TEST_DIR", dir, 1) == 0 &&
                 setenv("SONDE_JOURNAL_ONLY", "1", 1) == 0; /* one file per session */
    return ready ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_second_session, empty_folder),
        cmocka_unit_test_teardown(test_reads_another_process, empty_folder),
        cmocka_unit_test_teardown(test_metrics_of_a_dead_process, empty_folder),
        cmocka_unit_test_teardown(test_metrics_go_into_the_journal, empty_folder),
        cmocka_unit_test(test_hostile_files_are_refused),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests_name("metric_peer", tests, set_up, tear_down);
}
