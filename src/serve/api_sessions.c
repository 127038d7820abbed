/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes run, and which sessions lie in the folder. */
#include "analysis/analysis.h"
#include "base/json_write.h"
#include "serve/server.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct session_file {
    char name[256];
    uint64_t modified_ns;
    uint64_t bytes;
} session_file;

static void put_text(sonde__json *json, const char *key, const char *text)
{
    sonde__json_key(json, key);
    if (text && *text)
        sonde__json_string(json, text);
    else
        sonde__json_null(json);
}

static void put_time(sonde__json *json, const char *key, uint64_t wall_ns)
{
    sonde__json_key(json, key);
    uint64_t seconds = wall_ns / 1000000000u;
    if (wall_ns == 0)
        sonde__json_null(json);
    else
        sonde__json_double(json, (double)seconds + (double)(wall_ns % 1000000000u) / 1e9);
}

/* In the loop: processes are the loop's. */
static void put_processes(sonde__server *server, sonde__buf *out)
{
    sonde__json json;
    sonde__json_init(&json, out);
    sonde__json_begin_array(&json);
    for (size_t i = 0; i < server->processes.count; i++) {
        const sonde__process *one = server->processes.list[i];
        sonde__json_begin_object(&json);
        sonde__json_key(&json, "pid");
        sonde__json_uint(&json, one->pid);
        put_text(&json, "run", one->run_text);
        put_text(&json, "program", one->program);
        put_text(&json, "session", one->session);
        put_text(&json, "workflow", one->workflow);
        put_time(&json, "started", one->started_wall_ns);
        put_text(&json, "metrics",
                 one->readable == SONDE_OK ? "shared" : sonde_status_text(one->readable));
        sonde__json_end_object(&json);
    }
    sonde__json_end_array(&json);
}

static int newest_first(const void *a, const void *b)
{
    const session_file *x = a;
    const session_file *y = b;
    if (x->modified_ns != y->modified_ns)
        return x->modified_ns > y->modified_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Fills list (SONDE__SERVE_SESSIONS_MAX of room). */
static size_t list_files(const char *dir, session_file *list)
{
    size_t count = 0;
    DIR *stream = opendir(dir);
    for (const struct dirent *entry;
         stream && count < SONDE__SERVE_SESSIONS_MAX && (entry = readdir(stream)) != NULL;) {
        struct stat info;
        session_file *one = &list[count];
        size_t stem = sonde__session_stem(entry->d_name);
        if (stem == 0 || stem >= sizeof one->name || strcmp(entry->d_name + stem, ".sonde") != 0 ||
            fstatat(dirfd(stream), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        memcpy(one->name, entry->d_name, stem);
        one->name[stem] = '\0';
        one->modified_ns =
            (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec;
        one->bytes = (uint64_t)info.st_size;
        count++;
    }
    if (stream)
        closedir(stream);
    qsort(list, count, sizeof *list, newest_first);
    return count;
}

static void read_sessions(sonde__request *request)
{
    sonde__buf processes = request->body;
    sonde__buf_init(&request->body, SONDE__SERVE_BODY_MAX);
    session_file *list = calloc(SONDE__SERVE_SESSIONS_MAX, sizeof *list);
    size_t count = list ? list_files(request->server->options->dir, list) : 0;
    sonde__json json;
    sonde__json_init(&json, &request->body);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "processes");
    sonde__json_raw(&json, processes.data, processes.len);
    sonde__json_key(&json, "sessions");
    sonde__json_begin_array(&json);
    for (size_t i = 0; i < count; i++) {
        sonde__json_begin_object(&json);
        put_text(&json, "name", list[i].name);
        put_time(&json, "modified", list[i].modified_ns);
        sonde__json_key(&json, "bytes");
        sonde__json_uint(&json, list[i].bytes);
        sonde__json_end_object(&json);
    }
    sonde__json_end_array(&json);
    sonde__json_end_object(&json);
    sonde__buf_char(&request->body, '\n');
    request->status = list ? MHD_HTTP_OK : 0;
    free(list);
    sonde__buf_free(&processes);
}

enum MHD_Result sonde__api_sessions(sonde__request *request)
{
    if (request->read_done) {
        if (request->status == 0 || request->body.status != SONDE_OK)
            return sonde__reply_error(request, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
        return sonde__reply(request, request->status, "application/json", &request->body);
    }
    sonde__processes_look(&request->server->processes);
    put_processes(request->server, &request->body);
    return sonde__request_read(request, read_sessions);
}
