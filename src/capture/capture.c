/* SPDX-License-Identifier: Apache-2.0 */
/* The driver: opens the sources that the options ask for, reads them in turn, times them, and hands
   their failures on as reasons. A source that could not be opened is tried again at each recheck.
 */
#include "sonde/capture.h"

#include "base/clock.h"
#include "capture/capture_handle.h"
#include "capture/gpu_device.h"
#include "capture/parsers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIVE_PAGE_BYTES = 4096 };

static bool is_wanted(const sonde_capture *capture, const sonde__source *source)
{
    const sonde__host *host = &capture->host;
    return (source->types & host->types) && (source->levels & (1u << host->level));
}

static void close_source(sonde__active_source *active)
{
    if (active->source && active->open_status == SONDE_OK) {
        if (active->source->close)
            active->source->close(active->state);
        sonde__kernel_file_close(&active->file);
    }
    free(active->state);
    active->state = NULL;
    active->open_status = SONDE_EOFF;
}

/* Opens one candidate: its kernel file, then what it opens itself. */
static sonde_status try_source(sonde__host *host, const sonde__source *source,
                               sonde__active_source *active)
{
    if (source->live_only && !host->live)
        return SONDE_EUNSUPPORTED;
    void *state = source->state_bytes ? calloc(1, source->state_bytes) : NULL;
    if (source->state_bytes && !state)
        return SONDE_ENOMEM;
    active->file.fd = -1;
    sonde_status status = source->open ? source->open(host, state) : SONDE_OK;
    if (status != SONDE_OK) {
        free(state);
        return status;
    }
    if (source->file)
        status = sonde__host_open_file(host, source->file, source->file_kind, &active->file);
    if (status != SONDE_OK) {
        if (source->close)
            source->close(state);
        free(state);
        return status;
    }
    active->state = state;
    return SONDE_OK;
}

static void open_source(sonde__host *host, const sonde__source *source,
                        sonde__active_source *active)
{
    do {
        active->source = source;
        active->open_status = try_source(host, source, active);
        source = source->fallback;
    } while (active->open_status != SONDE_OK && active->open_status != SONDE_EOFF && source);
}

/* Fields of a source that is off keep SONDE_EOFF; those of the others start as absent. */
static void mark_expected(sonde_capture *capture, const sonde__source *source)
{
    const sonde__range *range = source->fields;
    for (unsigned i = 0; i < SONDE__SOURCE_RANGES && range[i].last > 0; i++)
        for (unsigned field = range[i].first; field <= (unsigned)range[i].last; field++)
            if (!source->reports || source->reports(&capture->host, (sonde_field)field))
                capture->initial_status[field] = SONDE_EABSENT;
}

static void open_sources(sonde_capture *capture)
{
    memset(capture->initial_status, SONDE_EOFF, sizeof capture->initial_status);
    for (unsigned i = 0; i < SONDE__SOURCE_COUNT; i++) {
        sonde__active_source *active = &capture->source[i];
        *active = (sonde__active_source){.source = sonde__sources[i], .open_status = SONDE_EOFF};
        if (!is_wanted(capture, sonde__sources[i]))
            continue;
        open_source(&capture->host, sonde__sources[i], active);
        if (active->open_status != SONDE_EOFF)
            mark_expected(capture, sonde__sources[i]);
    }
}

static void retry_sources(sonde_capture *capture)
{
    for (unsigned i = 0; i < SONDE__SOURCE_COUNT; i++) {
        sonde__active_source *active = &capture->source[i];
        if (active->open_status != SONDE_OK && active->open_status != SONDE_EOFF)
            open_source(&capture->host, sonde__sources[i], active);
    }
}

/* Keeps what was known when the file cannot be read now: machines seldom lose memory. */
static void read_memory_total(sonde__host *host)
{
    sonde__kernel_file file = SONDE__KERNEL_FILE_NONE;
    sonde__meminfo info = {0};
    sonde_status status = sonde__host_open_file(host, "/proc/meminfo", SONDE__FILE_WHOLE, &file);
    if (status == SONDE_OK)
        status = sonde__kernel_file_read(&file, &host->text);
    if (status == SONDE_OK)
        sonde__parse_meminfo(host->text.data, host->text.len, &info);
    if (info.bytes[SONDE__MEM_TOTAL] > 0)
        host->memory_total_bytes = info.bytes[SONDE__MEM_TOTAL];
    host->memory_status = status == SONDE_OK ? SONDE_EBADDATA : status;
    sonde__kernel_file_close(&file);
}

static void give_reason(const sonde__source *source, sonde_status reason, sonde_telemetry *out)
{
    const sonde__range *range = source->fields;
    for (unsigned i = 0; i < SONDE__SOURCE_RANGES && range[i].last > 0; i++)
        sonde__set_reason(out, range[i].first, range[i].last, reason);
    if (source->types & SONDE_CAPTURE_GPU)
        out->gpu_status = reason;
}

static void read_source(sonde__host *host, sonde__active_source *active, sonde_telemetry *out)
{
    sonde_status status = active->open_status;
    if (status == SONDE_OK && active->source->file)
        status = sonde__kernel_file_read(&active->file, &host->text);
    if (status == SONDE_OK)
        status = active->source->read(host, active->state, out);
    active->read_status = status;
    if (status != SONDE_OK) {
        active->failures++;
        give_reason(active->source, status, out);
    }
}

static void begin_reading(sonde_capture *capture, uint64_t now_ns)
{
    sonde_telemetry *out = &capture->telemetry;
    sonde__host *host = &capture->host;
    host->now_ns = now_ns;
    host->window_ns = capture->previous_ns ? now_ns - capture->previous_ns : 0;
    host->recheck = now_ns >= capture->recheck_ns;
    if (host->recheck) {
        capture->recheck_ns = now_ns + SONDE__RECHECK_NS;
        read_memory_total(host);
        retry_sources(capture);
    }
    capture->previous_ns = now_ns;
    memcpy(out->status, capture->initial_status, sizeof out->status);
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++) {
        out->table[i].count = 0;
        out->table[i].status = SONDE_EOFF;
    }
    out->thread.known = false;
    out->peak_rss_bytes = 0;
    out->gpu_count = 0;
    out->gpu_status = SONDE_EOFF;
    out->window_ns = host->window_ns;
    out->level = host->level;
}

static void take_reading(sonde_capture *capture)
{
    uint64_t start_ns = sonde__clock_monotonic_ns();
    begin_reading(capture, start_ns);
    sonde_telemetry *out = &capture->telemetry;
    out->time_ns = sonde__clock_wall_ns();
    if ((capture->host.types & SONDE_CAPTURE_PROCESS) && capture->host.pid > 0)
        sonde__set_uint(out, SONDE_FIELD_PROCESS_PID, (uint64_t)capture->host.pid);
    uint64_t before_ns = start_ns;
    for (unsigned i = 0; i < SONDE__SOURCE_COUNT; i++) {
        sonde__active_source *active = &capture->source[i];
        if (active->open_status == SONDE_EOFF)
            continue;
        read_source(&capture->host, active, out);
        uint64_t after_ns = sonde__clock_monotonic_ns();
        active->cost_ns = after_ns - before_ns;
        before_ns = after_ns;
    }
    out->cost_ns = before_ns - start_ns;
}

static sonde_status find_process(sonde__host *host)
{
    host->self = host->live && host->pid == 0;
    if (host->self) {
        host->pid = getpid();
        return SONDE_OK;
    }
    if (host->pid == 0)
        return SONDE_OK;
    host->self = host->live && host->pid == getpid();
    return sonde__host_process_exists(host) ? SONDE_OK : SONDE_EGONE;
}

static sonde_status take_paths(sonde__host *host, const char *const *paths)
{
    static const char *const root_only[] = {"/", NULL};
    for (paths = paths ? paths : root_only; *paths; paths++) {
        size_t len = strlen(*paths);
        if (host->path_count == SONDE_PATHS_MAX || len >= SONDE_PATH_BYTES)
            return SONDE_EINVAL;
        memcpy(host->paths[host->path_count++], *paths, len + 1);
    }
    return SONDE_OK;
}

static sonde_status take_gpu(sonde__host *host, const char *const *names)
{
    for (; names && *names; names++) {
        uint64_t metrics = sonde__gpu_metrics_of(*names);
        if (metrics == 0)
            return SONDE_EINVAL;
        host->gpu_metrics |= metrics;
    }
    return SONDE_OK;
}

static sonde_status take_options(sonde__host *host, const sonde_capture_options *options)
{
    const char *root = options->root ? options->root : "";
    if (options->size != sizeof *options || (options->types & ~(unsigned)SONDE_CAPTURE_ALL) ||
        (unsigned)options->level >= SONDE_LEVEL_COUNT || options->pid < 0 ||
        strlen(root) >= sizeof host->root)
        return SONDE_EINVAL;
    memcpy(host->root, root, strlen(root) + 1);
    host->live = options->root == NULL;
    host->pid = options->pid;
    host->types = options->types;
    host->level = options->level;
    host->idle_disks = options->idle_disks != 0;
    host->ticks_per_second = (double)sysconf(_SC_CLK_TCK);
    host->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    sonde_status status = take_gpu(host, options->gpu);
    return status == SONDE_OK ? take_paths(host, options->paths) : status;
}

/* A page that reads 0 in a child of fork, by whatever clone, without asking for the pid each time.
 */
static unsigned char *map_alive_page(void)
{
    void *page =
        mmap(NULL, ALIVE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    madvise(page, ALIVE_PAGE_BYTES, MADV_WIPEONFORK);
    *(unsigned char *)page = 1;
    return page;
}

static void close_sources(sonde_capture *capture)
{
    for (unsigned i = 0; i < SONDE__SOURCE_COUNT; i++)
        close_source(&capture->source[i]);
}

sonde_status sonde_capture_open(const sonde_capture_options *options, sonde_capture **out)
{
    static const sonde_capture_options defaults = SONDE_CAPTURE_OPTIONS_DEFAULT;
    sonde_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return SONDE_ENOMEM;
    capture->alive = map_alive_page();
    sonde__buf_init(&capture->host.text, SONDE__KERNEL_FILE_MAX);
    sonde__buf_init(&capture->json, SONDE__JSON_BYTES_MAX);
    sonde_status status = capture->alive ? SONDE_OK : SONDE_ENOMEM;
    if (status == SONDE_OK)
        status = take_options(&capture->host, options ? options : &defaults);
    capture->wanted_pid = (int)capture->host.pid;
    if (status == SONDE_OK)
        status = find_process(&capture->host);
    if (status != SONDE_OK) {
        sonde_capture_close(capture);
        return status;
    }
    open_sources(capture);
    take_reading(capture);
    *out = capture;
    return SONDE_OK;
}

void sonde_capture_close(sonde_capture *capture)
{
    if (!capture)
        return;
    close_sources(capture);
    for (unsigned i = 0; i < SONDE_TABLE_COUNT; i++)
        free(capture->telemetry.table[i].row);
    sonde__buf_free(&capture->host.text);
    sonde__buf_free(&capture->json);
    if (capture->alive)
        munmap(capture->alive, ALIVE_PAGE_BYTES);
    free(capture);
}

/* In a child: the files are the parent's, and so is the process they tell about. */
static void start_anew(sonde_capture *capture)
{
    close_sources(capture);
    *capture->alive = 1;
    capture->host.pid = capture->wanted_pid;
    capture->host.cpu_known = false;
    capture->previous_ns = 0;
    capture->recheck_ns = 0;
    find_process(&capture->host);
    open_sources(capture);
}

sonde_status sonde_capture_read(sonde_capture *capture, const sonde_telemetry **out)
{
    if (!*capture->alive)
        start_anew(capture);
    take_reading(capture);
    const sonde_telemetry *now = &capture->telemetry;
    if (capture->host.types == SONDE_CAPTURE_PROCESS &&
        now->status[SONDE_FIELD_PROCESS_RSS] == SONDE_EGONE)
        return SONDE_EGONE;
    *out = now;
    return SONDE_OK;
}
