/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of one line a record: Flowcept's messages and the CSV log. */
#include "view/flowcept_json.h"
#include "view/packet_csv.h"
#include "view/view_formats.h"

#include <stdlib.h>

static void nothing(sonde__span_writer *writer)
{
    (void)writer;
}

static void flowcept_record(sonde__span_writer *writer, const sonde_record *record)
{
    sonde__flowcept_json(record, writer->out);
    writer->count++;
}

const sonde__span_format sonde__spans_flowcept = {
    .begin = nothing,
    .record = flowcept_record,
    .end = nothing,
};

static void csv_begin(sonde__span_writer *writer)
{
    sonde__buf_text(writer->out, sonde__packet_csv_header);
    writer->state = calloc(1, sizeof(sonde__packet));
    if (!writer->state)
        writer->out->status = SONDE_ENOMEM;
}

static void csv_record(sonde__span_writer *writer, const sonde_record *record)
{
    sonde__packet *packet = writer->state;
    if (!packet || !sonde__packet_of_record(record, packet))
        return;
    sonde__packet_csv_write(writer->out, packet);
    writer->count++;
}

static void csv_end(sonde__span_writer *writer)
{
    free(writer->state);
}

const sonde__span_format sonde__spans_csv = {
    .begin = csv_begin,
    .record = csv_record,
    .end = csv_end,
};
