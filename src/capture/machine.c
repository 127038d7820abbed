/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a machine, put together: memory, disk, process and GPUs are those of a
   reading, the rest is read here. No name service is asked: the host's name is the kernel's, the
   login name comes from the environment where it can. */
#include "sonde/machine.h"

#include "base/clock.h"
#include "capture/capture_handle.h"
#include "capture/gpu_json.h"
#include "capture/machine_json.h"
#include "capture/machine_part.h"
#include "capture/telemetry_json.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MACHINE_BYTES_MAX = 16 << 20, PASSWD_BYTES = 4096 };

static void write_pair(sonde__json *json, const char *key, const char *value)
{
    sonde__json_key(json, key);
    sonde__json_string(json, value);
}

static void write_platform(sonde__json *json, const struct utsname *name)
{
    sonde__json_key(json, "platform");
    sonde__json_begin_object(json);
    write_pair(json, "system", name->sysname);
    write_pair(json, "node", name->nodename);
    write_pair(json, "release", name->release);
    write_pair(json, "version", name->version);
    write_pair(json, "machine", name->machine);
    write_pair(json, "processor", ""); /* as platform.uname() has it on Debian */
    sonde__json_end_object(json);
}

static void write_login(sonde__json *json, const char *const *variables)
{
    const char *name = sonde__environment_get(variables, "LOGNAME");
    char text[PASSWD_BYTES];
    struct passwd entry, *found = NULL;
    if (!name || !*name)
        name = sonde__environment_get(variables, "USER");
    if ((!name || !*name) && getpwuid_r(getuid(), &entry, text, sizeof text, &found) == 0 && found)
        name = entry.pw_name;
    if (name && *name)
        write_pair(json, "login_name", name);
}

/* Flowcept has swap first here, and usage without the object around it. */
static void write_reading(sonde__json *json, const sonde_telemetry *t)
{
    sonde__telemetry_write_section(json, t, SONDE_SECTION_MEMORY);
    if (t->table[SONDE_TABLE_PATHS].count > 0) {
        sonde__json_key(json, "disk");
        sonde__telemetry_write_row(json, &t->table[SONDE_TABLE_PATHS].row[0],
                                   SONDE_FIELD_DISK_TOTAL, SONDE_FIELD_DISK_PERCENT);
    }
}

static void write_own(sonde__json *json, const sonde_telemetry *t, const char *const *variables,
                      sonde_status network, uint64_t start_ns)
{
    sonde__json_key(json, "sonde");
    sonde__json_begin_object(json);
    sonde__json_key(json, "captured_at");
    sonde__json_double(json, (double)t->time_ns / 1e9);
    sonde__json_key(json, "version");
    sonde__json_string(json, sonde_version());
    sonde__machine_write_job(json, variables);
    sonde__gpu_write_own(json, t);
    sonde__json_key(json, "missing");
    sonde__json_begin_object(json);
    sonde__telemetry_write_missing(json, t);
    if (network != SONDE_OK)
        write_pair(json, "network", sonde_status_name(network));
    sonde__json_end_object(json);
    sonde__json_key(json, "cost_seconds");
    sonde__json_double(json, (double)(sonde__clock_monotonic_ns() - start_ns) / 1e9);
    sonde__json_end_object(json);
}

static void write_machine(sonde__json *json, sonde_capture *capture,
                          const sonde_machine_options *options, const char *const *variables,
                          uint64_t start_ns)
{
    static const char *const no_variables[] = {NULL};
    const sonde_telemetry *t = &capture->telemetry;
    bool live = capture->host.live;
    struct utsname name = {0};
    uname(&name);
    sonde__json_begin_object(json);
    write_reading(json, t);
    if (live)
        write_platform(json, &name);
    sonde__machine_write_cpu(json, &capture->host);
    sonde_status network = live ? sonde__machine_write_network(json) : SONDE_EUNSUPPORTED;
    sonde__machine_write_environment(json, live ? variables : no_variables, options->environment);
    if (live) {
        write_pair(json, "hostname", name.nodename);
        write_login(json, variables);
    }
    sonde__telemetry_write_section(json, t, SONDE_SECTION_PROCESS);
    sonde__gpu_write_section(json, t);
    write_own(json, t, variables, network, start_ns);
    sonde__json_end_object(json);
}

static sonde_status open_reading(const sonde_machine_options *options, sonde_capture **out)
{
    sonde_capture_options wanted = SONDE_CAPTURE_OPTIONS_DEFAULT;
    wanted.types = SONDE_CAPTURE_PROCESS | SONDE_CAPTURE_MEMORY | SONDE_CAPTURE_DISK;
    wanted.root = options->root;
    if (options->gpus) {
        wanted.types |= SONDE_CAPTURE_GPU;
        wanted.gpu = options->gpu;
    }
    const sonde_telemetry *now;
    sonde_capture *capture;
    sonde_status status = sonde_capture_open(&wanted, &capture);
    if (status != SONDE_OK)
        return status;
    status = sonde_capture_read(capture, &now); /* the first was for the percentages */
    if (status != SONDE_OK) {
        sonde_capture_close(capture);
        return status;
    }
    *out = capture;
    return SONDE_OK;
}

sonde_status sonde_machine_json(const sonde_machine_options *options, char **text, size_t *len)
{
    return sonde__machine_json(options, (const char *const *)environ, text, len);
}

sonde_status sonde__machine_json(const sonde_machine_options *options, const char *const *variables,
                                 char **text, size_t *len)
{
    static const sonde_machine_options defaults = SONDE_MACHINE_OPTIONS_DEFAULT;
    uint64_t start_ns = sonde__clock_monotonic_ns();
    options = options ? options : &defaults;
    if (options->size != sizeof *options ||
        (unsigned)options->environment >= SONDE_ENVIRONMENT_COUNT)
        return SONDE_EINVAL;
    sonde_capture *capture;
    sonde_status status = open_reading(options, &capture);
    if (status != SONDE_OK)
        return status;
    sonde__buf out;
    sonde__json json;
    sonde__buf_init(&out, MACHINE_BYTES_MAX);
    sonde__json_init(&json, &out);
    write_machine(&json, capture, options, variables, start_ns);
    sonde__buf_char(&out, '\0');
    sonde_capture_close(capture);
    if (out.status != SONDE_OK) {
        status = out.status;
        sonde__buf_free(&out);
        return status;
    }
    *text = out.data;
    *len = out.len - 1;
    return SONDE_OK;
}
