/* SPDX-License-Identifier: Apache-2.0 */
/* Which file is read, and what is never read. Each test runs in an empty folder of its own, with
   HOME in it. */
#include "settings_test.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/sonde-settings-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    char home[128];
    snprintf(home, sizeof home, "%s/home", folder);
    assert_int_equal(mkdir(home, 0700), 0);
    setenv("HOME", home, 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("SONDE_SETTINGS");
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file whose folders may have to be made first, relative to the test's folder. */
static void write_file(const char *path, const char *text)
{
    char part[256];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        mkdir(part, 0700);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Loads by look-up and asserts which file it was: by its name, or NULL for the defaults. */
static void assert_found(const char *expected)
{
    sonde_settings *settings = NULL;
    sonde_settings_error error = {"no message"};
    if (sonde_settings_load(NULL, &settings, &error) != SONDE_OK)
        fail_msg("%s", error.text);
    const char *path = sonde_settings_path(settings);
    if (expected) {
        assert_non_null(path);
        assert_string_equal(path, expected);
        assert_text(settings, "telemetry_capture.level", "light");
    } else {
        assert_null(path);
        assert_text(settings, "telemetry_capture.level", "full");
    }
    sonde_settings_free(settings);
}

static void assert_refused(const char *path, sonde_status expected, const char *message)
{
    sonde_settings *settings = NULL;
    sonde_settings_error error = {"no message"};
    assert_int_equal(sonde_settings_load(path, &settings, &error), expected);
    assert_string_equal(error.text, message);
    assert_null(settings);
    assert_int_equal(sonde_settings_load(path, &settings, NULL), expected);
}

#define LIGHT "telemetry_capture:\n  level: light\n"

static void the_look_up_has_an_order(void **state)
{
    (void)state;
    char personal[160];
    snprintf(personal, sizeof personal, "%s/home/.config/sonde/settings.yaml", folder);
    assert_found(NULL);
    write_file("home/.config/sonde/settings.yaml", LIGHT);
    assert_found(personal);
    write_file("settings.yaml", LIGHT);
    assert_found("settings.yaml");
    write_file("named.yaml", LIGHT);
    setenv("SONDE_SETTINGS", "", 1);
    assert_found("settings.yaml");
    setenv("SONDE_SETTINGS", "named.yaml", 1);
    assert_found("named.yaml");

    sonde_settings *settings = NULL;
    write_file("argument.yaml", LIGHT);
    assert_int_equal(sonde_settings_load("argument.yaml", &settings, NULL), SONDE_OK);
    assert_string_equal(sonde_settings_path(settings), "argument.yaml");
    sonde_settings_free(settings);
}

static void the_personal_file(void **state)
{
    (void)state;
    char config[128];
    char expected[160];
    snprintf(config, sizeof config, "%s/config", folder);
    snprintf(expected, sizeof expected, "%s/sonde/settings.yaml", config);
    write_file("home/.config/sonde/settings.yaml", "colour: red\n");
    write_file("config/sonde/settings.yaml", LIGHT);
    setenv("XDG_CONFIG_HOME", config, 1);
    assert_found(expected);
    unsetenv("HOME");
    assert_found(expected);
    setenv("XDG_CONFIG_HOME", "config", 1); /* relative: to be ignored */
    assert_found(NULL);
    setenv("HOME", "", 1);
    unsetenv("XDG_CONFIG_HOME");
    assert_found(NULL);
}

/* A bad file ends the look-up: falling through to the next would hide it. */
static void a_bad_file_is_not_passed_over(void **state)
{
    (void)state;
    write_file("home/.config/sonde/settings.yaml", LIGHT);
    write_file("settings.yaml", "mq: 1\ncolour: red\n");
    assert_refused(NULL, SONDE_EBADDATA,
                   "settings.yaml:2:1: unknown key \"colour\" at the top; expected one of "
                   "telemetry_capture, instrumentation, session, attributes");
    assert_int_equal(unlink("settings.yaml"), 0);
    assert_int_equal(mkdir("settings.yaml", 0700), 0);
    assert_refused(NULL, SONDE_EBADDATA, "settings.yaml: is a folder; expected a file");
}

static void a_named_file_must_be_there(void **state)
{
    (void)state;
    write_file("settings.yaml", LIGHT);
    assert_refused("none.yaml", SONDE_EABSENT, "none.yaml: there is no such file; check the name");
    assert_refused("", SONDE_EABSENT, ": there is no such file; check the name");
    assert_refused("settings.yaml/x", SONDE_EABSENT,
                   "settings.yaml/x: there is no such file; check the name");
    setenv("SONDE_SETTINGS", "gone.yaml", 1);
    assert_refused(NULL, SONDE_EABSENT, "gone.yaml: there is no such file; check the name");
    assert_int_equal(symlink("loop.yaml", "loop.yaml"), 0);
    assert_refused("loop.yaml", SONDE_EIO,
                   "loop.yaml: cannot be read: Too many levels of symbolic links");
}

enum { NOBODY = 65534 };

/* Root reads everything, so root runs what is to be refused as another user. */
static void become(uid_t user)
{
    if (getuid() == 0)
        assert_int_equal(seteuid(user), 0);
}

static void permissions(void **state)
{
    (void)state;
    if (getuid() == 0 && seteuid(NOBODY) != 0)
        skip();
    become(0);
    write_file("home/.config/sonde/settings.yaml", LIGHT);
    write_file("secret.yaml", LIGHT);
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(chmod("secret.yaml", 0), 0);
    assert_int_equal(chmod("home", 0), 0);
    become(NOBODY);
    assert_refused("secret.yaml", SONDE_EDENIED,
                   "secret.yaml: no permission to read it; check its owner and mode");
    assert_found(NULL); /* HOME is a folder that may not be entered */
    become(0);
    assert_int_equal(rename("secret.yaml", "settings.yaml"), 0);
    become(NOBODY);
    assert_refused(NULL, SONDE_EDENIED,
                   "settings.yaml: no permission to read it; check its owner and mode");
    become(0);
    assert_int_equal(chmod("home", 0700), 0);
}

/* 100 MB that take no room on the disk; the limit and a byte more with real content. */
static void too_large(void **state)
{
    (void)state;
    write_file("large.yaml", "mq: 1\n");
    assert_int_equal(truncate("large.yaml", 100L << 20), 0);
    assert_refused("large.yaml", SONDE_ELIMIT,
                   "large.yaml:1:1: the file has 104857600 bytes, too many for settings; "
                   "expected at most 1048576");
    FILE *file = fopen("full.yaml", "w");
    assert_non_null(file);
    for (size_t i = 0; i < 1 << 20; i++)
        fputc('#', file);
    assert_int_equal(fclose(file), 0);
    sonde_settings *settings = NULL;
    assert_int_equal(sonde_settings_load("full.yaml", &settings, NULL), SONDE_OK);
    sonde_settings_free(settings);
    assert_int_equal(truncate("full.yaml", (1 << 20) + 1), 0);
    assert_refused("full.yaml", SONDE_ELIMIT,
                   "full.yaml:1:1: the file has 1048577 bytes, too many for settings; "
                   "expected at most 1048576");
}

/* Files of /proc are regular and say that they have no bytes: all of one is read, none is trusted.
 */
static void a_file_that_does_not_know_its_size(void **state)
{
    (void)state;
    sonde_settings *settings = NULL;
    sonde_settings_error error = {"no message"};
    assert_int_equal(sonde_settings_load("/proc/self/status", &settings, &error), SONDE_EBADDATA);
    assert_memory_equal(error.text, "/proc/self/status:1:1: unknown key \"Name\"", 41);
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe.yaml", 0600), 0);
    assert_refused("pipe.yaml", SONDE_EBADDATA,
                   "pipe.yaml: is a device or a pipe; expected a file");
    assert_refused("/dev/zero", SONDE_EBADDATA,
                   "/dev/zero: is a device or a pipe; expected a file");
    assert_refused(".", SONDE_EBADDATA, ".: is a folder; expected a file");
    write_file("empty.yaml", "");
    sonde_settings *settings = NULL;
    assert_int_equal(sonde_settings_load("empty.yaml", &settings, NULL), SONDE_OK);
    assert_string_equal(sonde_settings_path(settings), "empty.yaml");
    sonde_settings_free(settings);
}

static void no_descriptor_is_left_open(void **state)
{
    (void)state;
    int before = dup(0);
    assert_true(before >= 0);
    close(before);
    the_look_up_has_an_order(state);
    assert_refused("pipe.yaml", SONDE_EABSENT, "pipe.yaml: there is no such file; check the name");
    assert_refused("/dev/zero", SONDE_EBADDATA,
                   "/dev/zero: is a device or a pipe; expected a file");
    write_file("bad.yaml", "colour: red\n");
    sonde_settings *settings = NULL;
    assert_int_equal(sonde_settings_load("bad.yaml", &settings, NULL), SONDE_EBADDATA);
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_look_up_has_an_order),
        IN_FOLDER(the_personal_file),
        IN_FOLDER(a_bad_file_is_not_passed_over),
        IN_FOLDER(a_named_file_must_be_there),
        IN_FOLDER(permissions),
        IN_FOLDER(too_large),
        IN_FOLDER(a_file_that_does_not_know_its_size),
        IN_FOLDER(only_regular_files_are_read),
        IN_FOLDER(no_descriptor_is_left_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
