/* SPDX-License-Identifier: Apache-2.0 */
/* Segments that are damaged, foreign or hostile are refused with a reason, by every reader. */
#include "record_load.h"

#include "record/recover.h"
#include "record/segment_image.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static char shm[32];
static char folder[64];

/* The segment of a process that died, as bytes. */
static uint8_t *dead_segment(size_t *len, char path[300])
{
    pid_t pid = fork();
    if (pid == 0) {
        sonde_session *session = open_in(folder, "dead");
        (void)session;
        (void)sonde_task_begin(SONDE_NAME("open"));
        for (int i = 0; i < 100; i++)
            sonde_task_end(sonde_task_begin(SONDE_NAME("work")));
        kill(getpid(), SIGKILL);
    }
    waitpid(pid, NULL, 0);
    DIR *dir = opendir(shm);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strncmp(entry->d_name, "sonde.", 6) == 0)
            snprintf(path, 300, "%s/%s", shm, entry->d_name);
    closedir(dir);
    int fd = open(path, O_RDONLY);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    *len = 2 << 20; /* header, names and the first lanes */
    uint8_t *bytes = calloc(1, *len);
    assert_true(read(fd, bytes, *len) > 0);
    close(fd);
    unlink(path);
    return bytes;
}

static void put_segment(const char *path, const uint8_t *bytes, size_t len, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, len), len);
    fchmod(fd, mode);
    close(fd);
}

/* What recovery says to the bytes. */
static sonde_status verdict(const char *path, const uint8_t *bytes, size_t len, mode_t mode,
                            char *reason)
{
    put_segment(path, bytes, len, mode);
    sonde_recovery what;
    sonde_status status = sonde__recover_segment(path, false, &what);
    snprintf(reason, SONDE__REASON_MAX, "%s", what.reason);
    unlink(path);
    return status;
}

static void refused_with_a_reason(void **state)
{
    (void)state;
    size_t len;
    char path[300];
    char reason[SONDE__REASON_MAX];
    uint8_t *bytes = dead_segment(&len, path);
    sonde__segment_header *header = (sonde__segment_header *)(void *)bytes;
    sonde__segment_header saved = *header;
    sonde__lane_header *lane =
        (sonde__lane_header *)(void *)(bytes + header->lanes_offset + header->lane_stride);
    sonde__lane_header saved_lane = *lane;

    header->layout = 7;
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EUNSUPPORTED);
    assert_non_null(strstr(reason, "version 7"));
    assert_non_null(strstr(reason, "version 1"));
    *header = saved;

    header->magic[0] = 'X';
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EBADDATA);
    *header = saved;
    header->boot_id[3] ^= 1;
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EUNSUPPORTED);
    *header = saved;
    header->lanes_offset = UINT64_MAX - 63;
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EBADDATA);
    *header = saved;
    header->lane_stride = UINT64_MAX / 64 * 64;
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EBADDATA);
    *header = saved;
    atomic_store(&header->lanes_used, 1000);
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EBADDATA);
    *header = saved;
    header->names_offset = len - 8;
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EBADDATA);
    *header = saved;
    lane->ring_offset = len;
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EBADDATA);
    *lane = saved_lane;
    lane->ring_bytes = 12345;
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EBADDATA);
    *lane = saved_lane;
    lane->slots_offset = UINT64_MAX - 7;
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EBADDATA);
    *lane = saved_lane;
    atomic_store(&lane->head, (uint64_t)1 << 40);
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_EBADDATA);
    assert_true(strlen(reason) > 0);
    *lane = saved_lane;

    assert_int_equal(verdict(path, bytes, len, 0644, reason), SONDE_EDENIED);  /* mode */
    assert_int_equal(verdict(path, bytes, 100, 0600, reason), SONDE_EBADDATA); /* short */
    char target[400];
    snprintf(target, sizeof target, "%s.target", path);
    put_segment(target, bytes, len, 0600);
    assert_int_equal(symlink(target, path), 0);
    sonde_recovery what;
    assert_int_not_equal(sonde__recover_segment(path, false, &what), SONDE_OK);
    unlink(path);
    unlink(target);

    /* and unchanged it is recovered */
    assert_int_equal(verdict(path, bytes, len, 0600, reason), SONDE_OK);
    free(bytes);
}

static void random_damage_never_harms_the_reader(void **state)
{
    (void)state;
    size_t len;
    char path[300];
    char reason[SONDE__REASON_MAX];
    uint8_t *bytes = dead_segment(&len, path);
    uint8_t *copy = malloc(len);
    char journal[600];
    snprintf(journal, sizeof journal, "%s/dead.sonde", folder);
    unsigned recovered = 0;
    for (unsigned round = 0; round < soak(300, 5000); round++) {
        memcpy(copy, bytes, len);
        for (int n = 0; n < 1 + rand() % 20; n++) {
            size_t where = (size_t)rand() % 3;
            size_t at = where == 0 ? (size_t)rand() % 400
                                   : (where == 1 ? 303104 + 4096 + (size_t)rand() % 4096
                                                 : (size_t)rand() % len);
            copy[at] = (uint8_t)rand();
        }
        /* the path it names must not be followed anywhere else */
        memcpy(((sonde__segment_header *)(void *)copy)->journal_path,
               ((sonde__segment_header *)(void *)bytes)->journal_path, SONDE__JOURNAL_PATH_MAX);
        recovered += verdict(path, copy, len, 0600, reason) == SONDE_OK;
        assert_int_equal(truncate(journal, 0), 0);
    }
    print_message("%u of the damaged segments still gave something\n", recovered);
    for (unsigned round = 0; round < 50; round++) {
        for (size_t i = 0; i < 16384; i++)
            copy[i] = (uint8_t)rand();
        assert_int_not_equal(verdict(path, copy, len, 0600, reason), SONDE_OK);
    }
    free(copy);
    free(bytes);
}

static void another_user_is_left_alone(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    size_t len;
    char path[300];
    uint8_t *bytes = dead_segment(&len, path);
    put_segment(path, bytes, len, 0600);
    assert_int_equal(chown(path, 12345, 12345), 0);
    sonde_recovery what;
    assert_int_equal(sonde__recover_segment(path, false, &what), SONDE_EDENIED);
    unlink(path);
    free(bytes);
}

static unsigned stores_left(void)
{
    unsigned count = 0;
    DIR *dir = opendir(shm);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += strncmp(entry->d_name, "sonde-metrics.", 14) == 0;
    closedir(dir);
    return count;
}

/* A process that has recorded 100 tasks and is dead; its folder is its own. */
static void die_in(const char *dir)
{
    pid_t pid = fork();
    if (pid == 0) {
        sonde_options options = SONDE_OPTIONS_DEFAULT;
        sonde_session *session = NULL;
        options.dir = dir;
        options.journal_only = 1;
        if (sonde_open("gone", &options, &session) != SONDE_OK)
            _exit(9);
        sonde_flush(session, 0, 5000000000u);
        for (int i = 0; i < 100; i++)
            sonde_task_end(sonde_task_begin(SONDE_NAME("work")));
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
}

static void keep_last_one(void *user, const sonde_recovery *what)
{
    *(sonde_recovery *)user = *what;
}

/* Metrics of dead processes that left no segment are removed, those of living ones are not. */
static void stores_of_the_dead_are_removed(void **state)
{
    (void)state;
    size_t len;
    char path[300];
    free(dead_segment(&len, path)); /* which takes the segment away */
    sonde_session *session = open_in(folder, "alive");
    assert_true(stores_left() >= 2);
    assert_int_equal(sonde_recover(NULL, NULL, NULL), SONDE_OK);
    assert_int_equal(stores_left(), 1);
    sonde_close(session);
    assert_int_equal(stores_left(), 0);
}

/* What cannot be written anywhere does not stay in memory for ever, and is counted. */
static void journals_that_were_deleted(void **state)
{
    (void)state;
    char dir[64];
    char path[100];
    sonde_recovery what = {0};
    strcpy(dir, make_folder());
    die_in(dir);
    snprintf(path, sizeof path, "%s/gone.sonde", dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sonde_recover(NULL, keep_last_one, &what), SONDE_OK);
    assert_int_equal(what.status, SONDE_OK);
    assert_true(what.lost >= 1 && what.lost <= 100); /* some may have been written before */
    assert_int_equal(segments_left(), 0);
    die_in(dir);
    remove_folder(dir);
    assert_int_equal(sonde_recover(NULL, keep_last_one, &what), SONDE_OK);
    assert_int_equal(what.status, SONDE_EABSENT);
    assert_non_null(strstr(what.reason, "--discard"));
    assert_int_equal(segments_left(), 1);
    assert_int_equal(sonde_recover_discard(NULL, keep_last_one, &what), SONDE_OK);
    assert_int_equal(what.status, SONDE_OK);
    assert_int_equal(segments_left() + stores_left(), 0);
}

int main(void)
{
    private_shm(shm);
    strcpy(folder, make_folder());
    srand((unsigned)time(NULL));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_with_a_reason),
        cmocka_unit_test(random_damage_never_harms_the_reader),
        cmocka_unit_test(another_user_is_left_alone),
        cmocka_unit_test(stores_of_the_dead_are_removed),
        cmocka_unit_test(journals_that_were_deleted),
    };
    int failed = cmocka_run_group_tests_name("record_segment", tests, NULL, NULL);
    remove_folder(folder);
    rmdir(shm);
    return failed;
}
