/* SPDX-License-Identifier: Apache-2.0 */
/* Manners of a guest: whatever the host does to its descriptors, limits, folders, threads and
   namespaces, it is not harmed. Counts are reduced; SONDE_SOAK=1 runs the full ones. */
#include "../record/patient_fork.h"
#include "guest_test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* The end of a scenario in which the leak check at exit, which needs /proc, cannot run. */
static _Noreturn void quit(int code)
{
#if defined(__SANITIZE_ADDRESS__)
    _exit(code);
#else
    exit(code);
#endif
}

/* --- descriptors --- */

/* The host closes everything, and opens files of its own in the same places, while the library's
   threads rest: between opening a file and closing it, nobody can tell. */
static int stolen_descriptors(const void *arg)
{
    (void)arg;
    sonde_session *session = guest_open("stolen");
    if (!session)
        return 1;
    use_everything();
    sonde__library_before_fork();
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    int canary[250];
    char path[128];
    for (int i = 0; i < 250; i++) {
        snprintf(path, sizeof path, "%s/canary%d", guest_dir, i);
        canary[i] = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (canary[i] < 0 || write(canary[i], "canary", 6) != 6)
            return 2;
    }
    sonde__library_after_fork_in_parent();
    use_everything();
    sonde_flush(session, 0, 1000000000u);
    use_everything();
    sonde_close(session);
    for (int i = 0; i < 250; i++) {
        char text[8] = "";
        if (fcntl(canary[i], F_GETFD) < 0) {
            fprintf(stderr, "descriptor %d was closed\n", canary[i]);
            return 3;
        }
        if (pread(canary[i], text, 8, 0) != 6 || memcmp(text, "canary", 6) != 0) {
            fprintf(stderr, "descriptor %d was written to: %.8s\n", canary[i], text);
            return 4;
        }
    }
    return 0;
}

static void test_closed_and_stolen_descriptors(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* a host that closes what another thread uses is a race: the one that is tested */
#endif
    assert_int_equal(run_scenario(stolen_descriptors, NULL), 0);
}

static int few_descriptors(const void *arg)
{
    struct rlimit limit = {*(const rlim_t *)arg, *(const rlim_t *)arg};
    if (close_range(3, ~0u, 0) != 0 || setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    sonde_session *session = guest_open("few");
    int tasks = use_everything();
    sonde_close(session);
    if (sonde_counter_value(sonde_counter_get("guest_total", NULL, NULL)) != (uint64_t)tasks - 1)
        return 2;
    /* what it had open is given back */
    int fd = open("/dev/null", O_RDONLY);
    quit(limit.rlim_cur > 3 && fd < 0 ? 3 : 0);
}

static void test_few_descriptors(void **state)
{
    (void)state;
    for (rlim_t limit = 3; limit <= 64; limit += limit < 16 ? 1 : 16)
        assert_int_equal(run_scenario(few_descriptors, &limit), 0);
}

/* --- memory and folders --- */

static int little_memory(const void *arg)
{
    struct rlimit limit = {*(const rlim_t *)arg, *(const rlim_t *)arg};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 1;
    sonde_session *session = guest_open("little");
    use_everything();
    sonde_close(session);
    return 0;
}

static rlim_t address_space_now(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages * 4096;
}

static void test_little_address_space(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* the sanitizer itself needs terabytes of addresses */
#endif
    static const rlim_t more[] = {0,        64 << 10, 512 << 10, 2 << 20,  8 << 20,
                                  32 << 20, 60 << 20, 90 << 20,  200 << 20};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        rlim_t limit = address_space_now() + more[i];
        assert_int_equal(run_scenario(little_memory, &limit), 0);
    }
}

static int no_folder(const void *arg)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = arg;
    sonde_session *session = NULL;
    if (sonde_open("none", &options, &session) == SONDE_OK)
        return 1;
    use_everything();
    return sonde_counter_value(sonde_counter_get("guest_total", NULL, NULL)) == 100 ? 0 : 2;
}

static void test_folder_that_cannot_be_written(void **state)
{
    (void)state;
    assert_int_equal(run_scenario(no_folder, "/proc/self/nothing"), 0);
    assert_int_equal(run_scenario(no_folder, "/sys"), 0);
}

/* A file may not grow: the write fails, and SIGXFSZ must not reach the host. */
static int full_disk(const void *arg)
{
    (void)arg;
    struct rlimit limit = {8192, RLIM_INFINITY};
    sonde_session *session = guest_open("full");
    if (!session || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    for (int i = 0; i < 30; i++)
        use_everything();
    if (sonde_flush(session, 0, 300000000u) == SONDE_OK)
        return 2;
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    if (stats.write_errors == 0)
        return 3;
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (sonde_flush(session, 0, 5000000000u) != SONDE_OK)
        return 4;
    sonde_close(session);
    return 0;
}

static void test_full_disk(void **state)
{
    (void)state;
    assert_int_equal(run_scenario(full_disk, NULL), 0);
}

/* --- namespaces --- */

enum { NOT_PERMITTED = 77 };

static int without_proc(const void *arg)
{
    (void)arg;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", "/proc", "tmpfs", 0, NULL) != 0 ||
        mount("tmpfs", "/sys", "tmpfs", 0, NULL) != 0)
        return NOT_PERMITTED;
    sonde_session *session = guest_open("noproc");
    if (!session)
        return 1;
    use_everything();
    sonde_close(session);
    quit(sonde_counter_value(sonde_counter_get("guest_total", NULL, NULL)) == 100 ? 0 : 2);
}

static int as_pid_1(const void *arg)
{
    (void)arg;
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return NOT_PERMITTED;
    pid_t child = fork();
    if (child == 0) {
        if (getpid() != 1)
            _exit(9);
        sonde_session *session = guest_open("init");
        use_everything();
        sonde_close(session);
        quit(session ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    quit(WIFEXITED(status) ? WEXITSTATUS(status) : 8);
}

static void run_or_skip(int (*scenario)(const void *))
{
    int code = run_scenario(scenario, NULL);
    if (code == NOT_PERMITTED)
        skip();
    assert_int_equal(code, 0);
}

static void test_no_proc(void **state)
{
    (void)state;
    run_or_skip(without_proc);
}

static void test_pid_1(void **state)
{
    (void)state;
    run_or_skip(as_pid_1);
}

/* --- threads and exit --- */

static _Atomic int go_on = 1;
static _Atomic uint64_t ended;
static _Atomic int warm; /* threads that have recorded */

static void *record_forever(void *arg)
{
    sonde_counter *counter = arg;
    for (uint64_t i = 0; go_on; i++) {
        warm += i == 1;
        sonde_task task = sonde_task_begin(SONDE_NAME("forever"));
        sonde_counter_inc(counter);
        sonde_task_end(task);
        ended++;
        usleep(20);
    }
    return NULL;
}

/* exit() while others record. */
static int exit_race(const void *arg)
{
    int microseconds = *(const int *)arg;
    char name[32]; /* a folder has room for a thousand sessions of one name */
    snprintf(name, sizeof name, "exit%d", (int)getpid());
    sonde_session *session = guest_open(name);
    sonde_counter *counter = sonde_counter_get("forever_total", NULL, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        if (!session || pthread_create(&thread, NULL, record_forever, counter) != 0)
            return 1;
        pthread_detach(thread);
    }
    usleep((useconds_t)microseconds);
    return 0; /* exit by the runner */
}

static void test_exit_races(void **state)
{
    (void)state;
    int races = soak() ? 1000 : 25;
    for (int i = 0; i < races; i++) {
        int wait = i * 97 % 3000;
        assert_int_equal(run_scenario(exit_race, &wait), 0);
    }
}

static int fork_under_load(const void *arg)
{
    int forks = *(const int *)arg;
    sonde_session *session = guest_open("load");
    sonde_counter *counter = sonde_counter_get("forever_total", NULL, NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, record_forever, counter);
    while (warm < 2) /* see patient_fork: threads of this test allocate while they start */
        usleep(100);
    for (int i = 0; i < forks; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            sonde_task_end(sonde_task_begin(SONDE_NAME("in the child")));
            sonde_counter_inc(counter);
            bool right = sonde_counter_value(counter) == 1;
            sonde_session *mine = NULL;
            if (sonde_session_default(&mine) == SONDE_OK)
                sonde_close(mine);
            _exit(right ? 0 : 1);
        }
        int status = -1;
        if (waitpid(child, &status, 0) != child || status != 0)
            return 2;
    }
    go_on = 0;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    uint64_t tasks = ended;
    bool counted = sonde_counter_value(counter) == tasks;
    sonde_session_stats stats;
    sonde_flush(session, 0, 10000000000u);
    sonde_session_stats_get(session, &stats);
    char path[128];
    snprintf(path, sizeof path, "%s", sonde_session_path(session));
    sonde_close(session);
    sonde_reader *reader;
    sonde_record record;
    uint64_t mine = 0;
    uint64_t children = 0;
    if (!counted || sonde_reader_open(path, NULL, &reader) != SONDE_OK)
        return 3;
    while (sonde_reader_next(reader, &record) == SONDE_OK) {
        if (record.kind == SONDE_RECORD_TASK && record.name_len == 7)
            mine++;
        if (record.kind == SONDE_RECORD_TASK && record.name_len == 12)
            children++;
    }
    sonde_reader_stats read;
    sonde_reader_stats_get(reader, &read);
    sonde_reader_close(reader);
    if (read.duplicates || read.missing || children != (uint64_t)forks)
        return 4;
    return mine + read.lost == tasks ? 0 : 5;
}

static void test_forks_under_load(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it cannot start threads in the child of a process that has some */
#endif
    int forks = soak() ? 1000 : 100;
    assert_int_equal(run_scenario(fork_under_load, &forks), 0);
}

static void *one_task(void *arg)
{
    sonde_task_end(sonde_task_begin(SONDE_NAME("short")));
    return arg;
}

static long resident_pages(void)
{
    long size = 0;
    long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = -1;
    if (file)
        fclose(file);
    return resident;
}

static int short_threads(const void *arg)
{
    int count = *(const int *)arg;
    sonde_session *session = guest_open("short");
    long before = 0;
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, one_task, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
        if (i == count / 2)
            before = resident_pages();
    }
    long grown = resident_pages() - before;
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    sonde_close(session);
    if (stats.lanes > 4 || stats.lost > 0)
        return 2;
#if defined(__SANITIZE_ADDRESS__)
    grown = 0; /* it keeps what was freed */
#endif
    return grown < 512 ? 0 : 3;
}

static void test_short_threads(void **state)
{
    (void)state;
    int count = soak() ? 100000 : 4000;
    assert_int_equal(run_scenario(short_threads, &count), 0);
}

static pthread_barrier_t together;

static void *task_together(void *arg)
{
    sonde_task task = sonde_task_begin(SONDE_NAME("crowd"));
    pthread_barrier_wait(&together);
    sonde_task_end(task);
    return arg;
}

static int crowd(const void *arg)
{
    (void)arg;
    enum { MANY = 1000 };
    static pthread_t threads[MANY];
    sonde_session *session = guest_open("crowd");
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 128 << 10);
    pthread_barrier_init(&together, NULL, MANY);
    for (int i = 0; i < MANY; i++)
        if (pthread_create(&threads[i], &attr, task_together, NULL) != 0)
            return 1;
    for (int i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
    char path[128];
    snprintf(path, sizeof path, "%s", sonde_session_path(session));
    sonde_close(session);
    uint64_t tasks = 0;
    sonde_reader *reader;
    sonde_record record;
    sonde_reader_stats read;
    if (sonde_reader_open(path, NULL, &reader) != SONDE_OK)
        return 2;
    while (sonde_reader_next(reader, &record) == SONDE_OK)
        tasks += record.kind == SONDE_RECORD_TASK;
    sonde_reader_stats_get(reader, &read);
    sonde_reader_close(reader);
    /* every one is there, or counted as lost; those with a lane of their own are there */
    return tasks + read.lost == MANY && tasks > 50 ? 0 : 3;
}

static void test_thousand_threads_at_once(void **state)
{
    (void)state;
    assert_int_equal(run_scenario(crowd, NULL), 0);
}

/* --- dlopen --- */

static int load_and_unload(const void *arg)
{
    int rounds = *(const int *)arg;
    long before = 0;
    for (int i = 0; i < rounds; i++) {
        void *library = dlopen(SONDE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return 1;
        sonde_counter *(*get)(const char *, const char *, const char *const *) = NULL;
        void (*add)(sonde_counter *, int64_t) = NULL;
        *(void **)&get = dlsym(library, "sonde_counter_get");
        *(void **)&add = dlsym(library, "sonde_counter_add_slow");
        if (!get || !add)
            return 2;
        add(get("loaded_total", NULL, NULL), 1);
        dlclose(library);
        if (i == rounds / 2)
            before = resident_pages();
    }
    return resident_pages() - before < 512 ? 0 : 3;
}

static void test_dlopen_and_dlclose(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* two copies of a sanitized library in one process */
#endif
    int rounds = soak() ? 1000 : 200;
    assert_int_equal(run_scenario(load_and_unload, &rounds), 0);
}

/* --- signals --- */

/* Threads of the library that are there now; -1: one of them does not block everything. */
static int library_threads(void)
{
    const unsigned long long all = 0x7fffffff & ~(1ull << (SIGKILL - 1)) & ~(1ull << (SIGSTOP - 1));
    DIR *dir = opendir("/proc/self/task");
    int count = 0;
    for (const struct dirent *entry; dir && count >= 0 && (entry = readdir(dir));) {
        char path[300];
        char line[256];
        unsigned long long mask = 0;
        bool ours = false;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) {
            ours = ours || strstr(line, "sonde-") != NULL;
            sscanf(line, "SigBlk: %llx", &mask);
        }
        if (file)
            fclose(file);
        if (ours)
            count = (mask & 0x7fffffff) == all ? count + 1 : -1;
    }
    closedir(dir);
    return count;
}

/* The drain, the writer of the log, and the collector; they start one another. */
static int blocked_signals(const void *arg)
{
    (void)arg;
    sonde_session *session = guest_open("signals");
    sonde_collector *collector = NULL;
    if (!session || sonde_collector_start(NULL, &collector) != SONDE_OK)
        return 1;
    int threads = 0;
    for (int i = 0; i < 1000 && threads >= 0 && threads < 3; i++) {
        threads = library_threads();
        usleep(1000);
    }
    sonde_collector_destroy(collector);
    sonde_close(session);
    return threads == 3 ? 0 : 3;
}

static void test_library_threads_block_signals(void **state)
{
    (void)state;
    assert_int_equal(run_scenario(blocked_signals, NULL), 0);
}

static int set_up(void **state)
{
    (void)state;
    patient_fork();
    make_dir();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_dir();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_and_stolen_descriptors),
        cmocka_unit_test(test_few_descriptors),
        cmocka_unit_test(test_little_address_space),
        cmocka_unit_test(test_folder_that_cannot_be_written),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_no_proc),
        cmocka_unit_test(test_pid_1),
        cmocka_unit_test(test_exit_races),
        cmocka_unit_test(test_forks_under_load),
        cmocka_unit_test(test_short_threads),
        cmocka_unit_test(test_thousand_threads_at_once),
        cmocka_unit_test(test_dlopen_and_dlclose),
        cmocka_unit_test(test_library_threads_block_signals),
    };
    return cmocka_run_group_tests_name("guest", tests, set_up, tear_down);
}
