/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session_name.h"

#include "base/clock.h"
#include "base/ids.h"
#include "record/frame.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAME_MAX_LEN = 199, SESSION_HEX = 16, TRACE_HEX = 32 };

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

bool sonde__session_name_valid(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > NAME_MAX_LEN || name[0] == '.')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_name_char(name[i]))
            return false;
    return true;
}

void sonde__session_name_now(char *out, size_t size)
{
    time_t now = (time_t)(sonde__clock_wall_ns() / 1000000000u);
    struct tm parts;
    if (!localtime_r(&now, &parts) || strftime(out, size, "session_%Y-%m-%d_%H-%M-%S", &parts) == 0)
        snprintf(out, size, "session");
}

void sonde__host_name(char *out, size_t size)
{
    if (gethostname(out, size) != 0)
        snprintf(out, size, "host");
    out[size - 1] = '\0';
    for (char *c = out; *c; c++)
        if (!is_name_char(*c))
            *c = '_';
    if (out[0] == '\0')
        snprintf(out, size, "host");
}

bool sonde__invitation_parse(const char *text, sonde_session *session)
{
    const char suffix[] = ".sonde";
    size_t head = SESSION_HEX + 1 + TRACE_HEX + 1;
    if (strlen(text) <= head || text[SESSION_HEX] != ':' || text[head - 1] != ':')
        return false;
    uint64_t id;
    uint64_t hi;
    uint64_t lo;
    if (!sonde__id_from_hex(text, 16, &id) || !sonde__id_from_hex(text + 17, 16, &hi) ||
        !sonde__id_from_hex(text + 33, 16, &lo))
        return false;
    const char *path = text + head;
    const char *base = strrchr(path, '/');
    size_t len = strlen(path);
    if (path[0] != '/' || len >= sizeof session->path || len < sizeof suffix ||
        strcmp(path + len - (sizeof suffix - 1), suffix) != 0)
        return false;
    size_t name_len = len - (size_t)(base + 1 - path) - (sizeof suffix - 1);
    char name[NAME_MAX_LEN + 1];
    if (name_len > NAME_MAX_LEN)
        return false;
    memcpy(name, base + 1, name_len);
    name[name_len] = '\0';
    if (!sonde__session_name_valid(name))
        return false;
    session->id = id;
    session->trace_hi = hi;
    session->trace_lo = lo;
    memcpy(session->name, name, name_len + 1);
    memcpy(session->path, path, len + 1);
    size_t dir_len = base == path ? 1 : (size_t)(base - path);
    memcpy(session->dir, path, dir_len);
    session->dir[dir_len] = '\0';
    return true;
}

static size_t encode(sonde__frame_writer *frame, const sonde__segment *segment,
                     const sonde_session *session, const sonde_attr *attrs, size_t count,
                     struct iovec body[2])
{
    const sonde__segment_header *header = sonde__segment_header_of(segment);
    sonde__anchor now = sonde__anchor_read(false);
    uint64_t trace[2] = {session->trace_hi, session->trace_lo};
    char host[80];
    sonde__host_name(host, sizeof host);
    sonde__frame_begin(frame, session->id, session->run, SONDE__FRAME_NO_LANE, 0,
                       now.wall_offset_ns);
    frame->header.min_mono_ns = frame->header.max_mono_ns = now.mono_ns;
    sonde__frame_run_begin(frame, SONDE__KIND_RUN_BEGIN);
    sonde__frame_run_text(frame, SONDE__RUN_SESSION_NAME, session->name);
    sonde__frame_run_text(frame, SONDE__RUN_WORKFLOW_NAME,
                          session->workflow_name ? session->workflow_name : session->name);
    sonde__frame_run_text(frame, SONDE__RUN_SUBTYPE, session->subtype);
    sonde__frame_run_text(frame, SONDE__RUN_PARENT_WORKFLOW, session->parent_workflow_id);
    sonde__frame_run_text(frame, SONDE__RUN_CAMPAIGN, session->campaign_id);
    sonde__frame_run_text(frame, SONDE__RUN_USER, session->user);
    sonde__frame_run_text(frame, SONDE__RUN_HOST, host);
    sonde__frame_run_bytes(frame, SONDE__RUN_BOOT_ID, header->boot_id, sizeof header->boot_id);
    sonde__frame_run_uint(frame, SONDE__RUN_PID, header->pid);
    sonde__frame_run_uint(frame, SONDE__RUN_OPENER, !session->joined);
    sonde__frame_run_bytes(frame, SONDE__RUN_TRACE, trace, sizeof trace);
    sonde__frame_run_uint(frame, SONDE__RUN_PARENT_SPAN, session->parent);
    sonde__frame_run_uint(frame, SONDE__RUN_STARTED, now.mono_ns + (uint64_t)now.wall_offset_ns);
    sonde__frame_run_text(frame, SONDE__RUN_VERSION, sonde_version());
    sonde__frame_run_text(frame, SONDE__RUN_SEGMENT,
                          segment->shared ? "shared" : sonde_status_name(segment->reason));
    sonde__frame_run_attrs(frame, attrs, count, sizeof header->start_frame);
    sonde__frame_run_end(frame);
    return sonde__frame_finish(frame, body) ? sonde__frame_seal(&frame->header, body, 2) : 0;
}

sonde_status sonde__start_frame(sonde__segment *segment, const sonde_session *session,
                                const sonde_attr *attrs, size_t attr_count)
{
    sonde__segment_header *header = sonde__segment_header_of(segment);
    sonde__frame_writer frame;
    struct iovec pieces[3] = {{&frame.header, sizeof frame.header}};
    sonde_status status = sonde__frame_writer_init(&frame);
    if (status != SONDE_OK)
        return status;
    size_t length = encode(&frame, segment, session, attrs, attr_count, pieces + 1);
    if (length == 0 || length > sizeof header->start_frame) {
        status = SONDE_ELIMIT;
    } else {
        uint8_t *at = header->start_frame;
        for (int i = 0; i < 3; i++) {
            if (pieces[i].iov_len > 0)
                memcpy(at, pieces[i].iov_base, pieces[i].iov_len);
            at += pieces[i].iov_len;
        }
        header->start_frame_bytes = (uint32_t)length;
    }
    sonde__frame_writer_free(&frame);
    return status;
}
