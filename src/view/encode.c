/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and what they have in common. */
#include "sonde/encode.h"

#include "view/view_formats.h"

#include <string.h>

enum { PIECE_BYTES = 256 << 10 };

static const sonde_format_info formats[SONDE_FORMAT_COUNT] = {
#define FORMAT_INFO(name, text, type, metrics, records, summary) \
    {text, type, summary, metrics, records},
    SONDE_FORMAT_MAP(FORMAT_INFO)
#undef FORMAT_INFO
};

static sonde__encode_metrics *const of_metrics[SONDE_FORMAT_COUNT] = {
    [SONDE_FORMAT_PROMETHEUS] = sonde__encode_prometheus,
    [SONDE_FORMAT_OPENMETRICS] = sonde__encode_openmetrics,
    [SONDE_FORMAT_PROMETHEUS_PROTOBUF] = sonde__encode_prometheus_protobuf,
    [SONDE_FORMAT_JSON] = sonde__encode_json,
    [SONDE_FORMAT_OTLP_JSON] = sonde__encode_otlp_metrics_json,
    [SONDE_FORMAT_OTLP] = sonde__encode_otlp_metrics,
    [SONDE_FORMAT_STATSD] = sonde__encode_statsd,
    [SONDE_FORMAT_DOGSTATSD] = sonde__encode_dogstatsd,
    [SONDE_FORMAT_CLOUDWATCH] = sonde__encode_cloudwatch,
};

static const sonde__span_format *const of_records[SONDE_FORMAT_COUNT] = {
    [SONDE_FORMAT_OTLP_JSON] = &sonde__spans_otlp_json, [SONDE_FORMAT_OTLP] = &sonde__spans_otlp,
    [SONDE_FORMAT_JAEGER] = &sonde__spans_jaeger,       [SONDE_FORMAT_SPANS] = &sonde__spans_pyveda,
    [SONDE_FORMAT_FLOWCEPT] = &sonde__spans_flowcept,   [SONDE_FORMAT_CSV] = &sonde__spans_csv,
};

const sonde_format_info *sonde_format_describe(sonde_format format)
{
    return (unsigned)format < SONDE_FORMAT_COUNT ? &formats[format] : NULL;
}

sonde_status sonde_format_parse(const char *name, sonde_format *out)
{
    for (unsigned i = 0; i < SONDE_FORMAT_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0) {
            *out = (sonde_format)i;
            return SONDE_OK;
        }
    return SONDE_EINVAL;
}

static const sonde_encode_options defaults = SONDE_ENCODE_OPTIONS_DEFAULT;

static bool options_fit(const sonde_encode_options **options)
{
    if (!*options)
        *options = &defaults;
    return (*options)->size == sizeof **options;
}

sonde_status sonde_encode(sonde_view *view, sonde_format format,
                          const sonde_encode_options *options, const char **data, size_t *len)
{
    if ((unsigned)format >= SONDE_FORMAT_COUNT || !of_metrics[format] || !options_fit(&options))
        return SONDE_EINVAL;
    sonde__buf_clear(&view->out);
    if (!sonde__view_plan(view))
        return SONDE_ENOMEM;
    of_metrics[format](view, options, &view->out);
    if (view->out.status != SONDE_OK)
        return view->out.status;
    *data = view->out.data ? view->out.data : "";
    *len = view->out.len;
    return SONDE_OK;
}

/* Hands over what has been written. */
static sonde_status pass_on(sonde__span_writer *writer,
                            int (*put)(void *user, const char *data, size_t len), void *user)
{
    sonde__buf *out = writer->out;
    sonde_status status = out->status;
    if (status == SONDE_OK && out->len > 0 && !put(user, out->data, out->len))
        status = SONDE_EIO;
    sonde__buf_clear(out);
    return status;
}

sonde_status sonde_encode_records(sonde_reader *reader, sonde_format format,
                                  const sonde_encode_options *options,
                                  int (*put)(void *user, const char *data, size_t len), void *user)
{
    if ((unsigned)format >= SONDE_FORMAT_COUNT || !of_records[format] || !options_fit(&options))
        return SONDE_EINVAL;
    const sonde__span_format *spans = of_records[format];
    sonde__buf out;
    sonde__buf_init(&out, SONDE__ENCODED_MAX);
    sonde__span_writer writer = {.out = &out, .reader = reader};
    sonde_record record;
    sonde_status status = SONDE_OK;
    spans->begin(&writer);
    while (status == SONDE_OK && (options->limit == 0 || writer.count < options->limit) &&
           sonde_reader_next(reader, &record) == SONDE_OK) {
        spans->record(&writer, &record);
        if (out.len < PIECE_BYTES)
            continue;
        if (spans->pause)
            spans->pause(&writer);
        status = pass_on(&writer, put, user);
    }
    spans->end(&writer);
    if (status == SONDE_OK)
        status = pass_on(&writer, put, user);
    sonde__buf_free(&out);
    return status;
}
