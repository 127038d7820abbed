/* SPDX-License-Identifier: Apache-2.0 */
/* Answers. The security headers are there whatever the answer is; web-config may set its own. */
#define ZLIB_CONST /* input is not written to */
#include "base/json_write.h"
#include "serve/server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, GZIP_LEVEL = 1 };

const char *sonde__request_header(const sonde__request *request, const char *name, size_t *len)
{
    const char *value = NULL;
    if (MHD_lookup_connection_value_n(request->connection, MHD_HEADER_KIND, name, strlen(name),
                                      &value, len) != MHD_YES)
        value = NULL;
    if (!value)
        *len = 0;
    return value;
}

bool sonde__reply_wants_gzip(const sonde__request *request)
{
    size_t len;
    const char *accept = sonde__request_header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING, &len);
    return accept && sonde__accepts_gzip(accept, len);
}

bool sonde__gzip(const char *data, size_t len, sonde__buf *out)
{
    z_stream z = {0};
    if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    sonde__buf_clear(out);
    bool done = false;
    if (sonde__buf_reserve(out, len)) {
        z.next_in = (const Bytef *)data;
        z.avail_in = (uInt)len;
        z.next_out = (Bytef *)out->data;
        z.avail_out = (uInt)len;
        done = deflate(&z, Z_FINISH) == Z_STREAM_END;
        out->len = len - z.avail_out;
    }
    deflateEnd(&z);
    return done;
}

void sonde__reply_headers(const sonde__request *request, struct MHD_Response *response)
{
    static const char *const usual[SONDE__WEB_HEADERS] = {
        "default-src 'none'; frame-ancestors 'none'", NULL, "nosniff", "DENY", NULL};
    for (size_t i = 0; i < SONDE__WEB_HEADERS; i++) {
        const char *own = request->server->config.header[i];
        const char *value = own ? own : usual[i];
        if (value)
            MHD_add_response_header(response, sonde__web_header_name(i), value);
    }
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
}

static enum MHD_Result send_response(const sonde__request *request, unsigned status,
                                     const char *type, struct MHD_Response *response, bool gzip)
{
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
    if (gzip)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                "Basic realm=\"sonde\", charset=\"UTF-8\"");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    sonde__reply_headers(request, response);
    enum MHD_Result queued = MHD_queue_response(request->connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

enum MHD_Result sonde__reply(const sonde__request *request, unsigned status, const char *type,
                             sonde__buf *body)
{
    sonde__buf packed;
    sonde__buf_init(&packed, SONDE__SERVE_BODY_MAX);
    bool gzip = body->len >= SONDE__SERVE_GZIP_LEAST && sonde__reply_wants_gzip(request) &&
                sonde__gzip(body->data, body->len, &packed);
    sonde__buf *chosen = gzip ? &packed : body;
    sonde__buf_free(gzip ? body : &packed);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(chosen->len, chosen->data, MHD_RESPMEM_MUST_FREE);
    if (!response)
        sonde__buf_free(chosen);
    sonde__buf_init(body, SONDE__SERVE_BODY_MAX);
    return send_response(request, status, type, response, gzip);
}

enum MHD_Result sonde__reply_text(const sonde__request *request, unsigned status, const char *type,
                                  const char *text, size_t len)
{
    sonde__buf body;
    sonde__buf_init(&body, SONDE__SERVE_BODY_MAX);
    sonde__buf_append(&body, text, len);
    return sonde__reply(request, status, type, &body);
}

enum MHD_Result sonde__reply_error(const sonde__request *request, unsigned status,
                                   const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sonde__buf body;
    sonde__json json;
    sonde__buf_init(&body, SONDE__SERVE_BODY_MAX);
    sonde__json_init(&json, &body);
    sonde__json_begin_object(&json);
    sonde__json_key(&json, "error");
    sonde__json_string(&json, text);
    sonde__json_end_object(&json);
    sonde__buf_char(&body, '\n');
    return sonde__reply(request, status, "application/json", &body);
}
