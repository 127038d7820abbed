/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged journals always open, and every frame outside of the damage is read. */
#include "record_load.h"

#include "record/frame_scan.h"

#include <fcntl.h>
#include <time.h>

static char shm[32];

enum { FRAMES_MAX = 4096 };

static struct {
    uint8_t *bytes;
    size_t len;
    struct {
        size_t offset;
        size_t length;
        unsigned records; /* tasks */
    } frames[FRAMES_MAX];
    size_t count;
} good;

static void note(void *user, const sonde__frame_header *header, const uint8_t *frame,
                 uint64_t offset)
{
    (void)user;
    (void)frame;
    good.frames[good.count].offset = (size_t)offset;
    good.frames[good.count].length = header->length;
    good.frames[good.count++].records = header->count;
}

/* A small journal of many frames. */
static void make_journal(const char *dir, unsigned frames)
{
    sonde_session *session = open_in(dir, "good");
    for (unsigned i = 0; i < frames; i++) {
        for (unsigned n = 0; n < 3; n++) {
            sonde_task task = sonde_task_begin(SONDE_NAME("work"));
            sonde_task_int(task, SONDE_USED, SONDE_NAME("i"), i);
            sonde_task_string(task, SONDE_GENERATED, SONDE_NAME("text"), "some text");
            sonde_task_end(task);
        }
        assert_int_equal(sonde_flush(session, 0, 5000000000u), SONDE_OK);
    }
    sonde_close(session);
    char path[600];
    snprintf(path, sizeof path, "%s/good.sonde", dir);
    int fd = open(path, O_RDONLY);
    struct stat st;
    fstat(fd, &st);
    good.len = (size_t)st.st_size;
    good.bytes = malloc(good.len);
    assert_int_equal(read(fd, good.bytes, good.len), good.len);
    good.count = 0;
    sonde__journal_scan scan = {.fd = fd};
    assert_int_equal(sonde__frame_scan(&scan, note, NULL), SONDE_OK);
    close(fd);
    assert_true(good.count >= frames);
}

static void write_file(const char *path, const uint8_t *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

/* Tasks read from the file, whatever it is; opening fails only when no frame is left. */
static unsigned read_tasks(const char *path, bool none_left)
{
    sonde_reader *reader = NULL;
    sonde_reader_options options = SONDE_READER_OPTIONS_DEFAULT;
    options.live = options.recover = 0;
    sonde_status status = sonde_reader_open(path, &options, &reader);
    if (none_left && status == SONDE_EBADDATA)
        return 0;
    assert_int_equal(status, SONDE_OK);
    sonde_record r;
    unsigned tasks = 0;
    while (sonde_reader_next(reader, &r) == SONDE_OK)
        tasks += r.kind == SONDE_RECORD_TASK;
    sonde_reader_close(reader);
    return tasks;
}

/* Tasks in frames that do not touch [from, to). */
static unsigned tasks_outside(size_t from, size_t to, unsigned *frames)
{
    unsigned tasks = 0;
    *frames = 0;
    for (size_t i = 0; i < good.count; i++)
        if (good.frames[i].offset >= to || good.frames[i].offset + good.frames[i].length <= from) {
            tasks += good.frames[i].records;
            ++*frames;
        }
    return tasks;
}

static void random_bit_flips(void **state)
{
    (void)state;
    char *dir = make_folder();
    char path[600];
    make_journal(dir, 20);
    snprintf(path, sizeof path, "%s/bad.sonde", dir);
    unsigned rounds = soak(1000, 10000);
    uint8_t *copy = malloc(good.len);
    for (unsigned round = 0; round < rounds; round++) {
        memcpy(copy, good.bytes, good.len);
        size_t at = (size_t)rand() % good.len;
        copy[at] ^= (uint8_t)(1u << rand() % 8);
        write_file(path, copy, good.len);
        unsigned frames;
        unsigned expected = tasks_outside(at, at + 1, &frames);
        assert_int_equal(read_tasks(path, frames == 0), expected);
    }
    print_message("%u bit flips in %zu bytes, %zu frames\n", rounds, good.len, good.count);
    free(copy);
    free(good.bytes);
    remove_folder(dir);
}

static void truncation_at_every_byte(void **state)
{
    (void)state;
    char *dir = make_folder();
    char path[600];
    make_journal(dir, 4);
    snprintf(path, sizeof path, "%s/bad.sonde", dir);
    for (size_t len = 0; len <= good.len; len++) {
        write_file(path, good.bytes, len);
        unsigned frames;
        unsigned expected = tasks_outside(len, SIZE_MAX, &frames);
        assert_int_equal(read_tasks(path, frames == 0), expected);
    }
    print_message("truncated at each of %zu bytes\n", good.len);
    free(good.bytes);
    remove_folder(dir);
}

static void holes_and_garbage_between_frames(void **state)
{
    (void)state;
    char *dir = make_folder();
    char path[600];
    make_journal(dir, 10);
    snprintf(path, sizeof path, "%s/bad.sonde", dir);
    uint8_t *copy = malloc(good.len + 5000);
    size_t cut = good.frames[5].offset;
    memcpy(copy, good.bytes, cut);
    for (size_t i = 0; i < 5000; i++)
        copy[cut + i] = (uint8_t) "SNDF\xff\xff\x0f"[i % 7]; /* beginnings of frames, never one */
    memcpy(copy + cut + 5000, good.bytes + cut, good.len - cut);
    write_file(path, copy, good.len + 5000);
    unsigned frames;
    assert_int_equal(read_tasks(path, false), tasks_outside(0, 0, &frames));
    free(copy);
    free(good.bytes);
    remove_folder(dir);
}

static void what_is_not_a_journal(void **state)
{
    (void)state;
    char *dir = make_folder();
    char path[600];
    char error[700] = "";
    sonde_reader *reader = NULL;
    sonde_reader_options options = SONDE_READER_OPTIONS_DEFAULT;
    options.error = error;
    options.error_size = sizeof error;
    snprintf(path, sizeof path, "%s/none.sonde", dir);
    assert_int_equal(sonde_reader_open(path, &options, &reader), SONDE_EABSENT);
    assert_non_null(strstr(error, "none.sonde"));
    write_file(path, (const uint8_t *)"", 0); /* an empty file is normal: nothing written yet */
    assert_int_equal(sonde_reader_open(path, &options, &reader), SONDE_OK);
    sonde_record r;
    assert_int_equal(sonde_reader_next(reader, &r), SONDE_EEND);
    sonde_reader_close(reader);
    write_file(path, (const uint8_t *)"a,b,c\n1,2,3\n", 12);
    assert_int_equal(sonde_reader_open(path, &options, &reader), SONDE_EBADDATA);
    assert_int_equal(sonde_reader_open(dir, &options, &reader), SONDE_EBADDATA);
    remove_folder(dir);
}

int main(void)
{
    private_shm(shm);
    srand((unsigned)time(NULL));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bit_flips),
        cmocka_unit_test(truncation_at_every_byte),
        cmocka_unit_test(holes_and_garbage_between_frames),
        cmocka_unit_test(what_is_not_a_journal),
    };
    int failed = cmocka_run_group_tests_name("record_damage", tests, NULL, NULL);
    rmdir(shm);
    return failed;
}
