/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ids.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { IDS = 2000, SECCOMP_REFUSED = 77 };

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts ids, and checks that none is 0, none is there twice, and each bit is set in about half. */
static void assert_look_random(uint64_t *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, compare_ids);
    assert_true(ids[0] != 0);
    for (size_t i = 1; i < count; i++)
        assert_true(ids[i] != ids[i - 1]);
    for (unsigned bit = 0; bit < 64; bit++) {
        size_t set = 0;
        for (size_t i = 0; i < count; i++)
            set += ids[i] >> bit & 1;
        assert_in_range(set, count / 3, count * 2 / 3);
    }
}

static void random_ids_differ(void **state)
{
    (void)state;
    static uint64_t ids[IDS];
    for (size_t i = 0; i < IDS; i++)
        ids[i] = sonde__id_random();
    assert_look_random(ids, IDS);
}

/* From here on getrandom fails in this process, as under a strict container profile. */
static int forbid_getrandom(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    char byte;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           getrandom(&byte, 1, 0) < 0 && errno == ENOSYS;
}

/* A child without getrandom writes its ids into out. Returns its exit status. */
static int ids_of_forbidden_child(uint64_t *out, size_t count)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (!forbid_getrandom())
            _exit(SECCOMP_REFUSED);
        for (size_t i = 0; i < count; i++) {
            uint64_t id = sonde__id_random();
            if (write(ends[1], &id, sizeof id) != (ssize_t)sizeof id)
                _exit(1);
        }
        _exit(0);
    }
    assert_true(pid > 0);
    close(ends[1]);
    size_t size = 0;
    ssize_t got = 1;
    for (; got > 0; size += (size_t)got) {
        got = read(ends[0], (char *)out + size, count * sizeof *out - size);
        assert_true(got >= 0);
    }
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status == 0)
        assert_int_equal(size, count * sizeof *out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ids_differ_between_processes_without_getrandom(void **state)
{
    (void)state;
    static uint64_t ids[IDS + IDS];
    int first = ids_of_forbidden_child(ids, IDS);
    if (first == SECCOMP_REFUSED)
        skip();
    assert_int_equal(first, 0);
    assert_int_equal(ids_of_forbidden_child(ids + IDS, IDS), 0);
    assert_look_random(ids, sizeof ids / sizeof *ids);
}

static void hex_is_sixteen_lower_case_digits(void **state)
{
    (void)state;
    char text[17] = "................!";
    sonde__id_to_hex(0x0123456789abcdefu, text);
    assert_memory_equal(text, "0123456789abcdef!", 17);
    sonde__id_to_hex(0, text);
    assert_memory_equal(text, "0000000000000000!", 17);
    sonde__id_to_hex(UINT64_MAX, text);
    assert_memory_equal(text, "ffffffffffffffff!", 17);
}

static void hex_reads_back(void **state)
{
    (void)state;
    uint64_t out = 0;
    assert_int_equal(sonde__id_from_hex("0123456789ABCdef", 16, &out), 1);
    assert_true(out == 0x0123456789abcdefu);
    for (int i = 0; i < 1000; i++) {
        char text[16];
        uint64_t id = sonde__id_random();
        sonde__id_to_hex(id, text);
        assert_int_equal(sonde__id_from_hex(text, 16, &out), 1);
        assert_true(out == id);
    }
}

static void what_is_not_hex_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "0123456789abcde",
        "0123456789abcdef0",
        "g123456789abcdef",
        "0123456789abcde/",
        "0123456789abcde:",
        "0123456789abcde@",
        "0123456789abcde`",
        " 123456789abcdef",
        "-123456789abcdef",
        "0x23456789abcdef",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t out = 42;
        assert_int_equal(sonde__id_from_hex(bad[i], strlen(bad[i]), &out), 0);
        assert_true(out == 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ids_differ),
        cmocka_unit_test(ids_differ_between_processes_without_getrandom),
        cmocka_unit_test(hex_is_sixteen_lower_case_digits),
        cmocka_unit_test(hex_reads_back),
        cmocka_unit_test(what_is_not_hex_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
