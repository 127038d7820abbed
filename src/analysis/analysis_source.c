/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways packets come in: rows of a CSV log, records of a journal. */
#include "analysis/analysis.h"

#include "base/csv_read.h"
#include "view/packet_csv.h"
#include "view/session_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void complain(sonde__analysis *analysis, const char *text)
{
    snprintf(analysis->error, sizeof analysis->error, "%.300s: %.200s", analysis->path, text);
}

/* Names the columns that a log must have and this file has not. */
static sonde_status refuse_header(sonde__analysis *analysis, const sonde__csv_row *row)
{
    char text[200];
    snprintf(text, sizeof text,
             "not a log of work packets: its first line has %u field%s, without duration_ms or "
             "operation",
             row->count, row->count == 1 ? "" : "s");
    complain(analysis, text);
    return SONDE_EBADDATA;
}

static void take_row(sonde__analysis *analysis, const sonde__packet_columns *columns,
                     const sonde__csv_row *row, sonde__packet *packet)
{
    switch (sonde__packet_csv_read(columns, row, packet)) {
    case SONDE__ROW_OK:
        sonde__analysis_add(analysis, packet);
        break;
    case SONDE__ROW_HEADER:
        analysis->headers++;
        break;
    case SONDE__ROW_SHORT:
        analysis->rows_short++;
        break;
    case SONDE__ROW_BAD:
        analysis->rows_bad++;
        break;
    }
}

sonde_status sonde__analyze_csv(sonde__analysis *analysis)
{
    sonde__csv_file file;
    sonde__csv_row row;
    sonde__packet_columns columns;
    sonde__packet packet = {0};
    sonde_status status = sonde__csv_open(&file, analysis->path);
    if (status != SONDE_OK) {
        complain(analysis, status == SONDE_EBADDATA ? "this is a folder, not a file"
                                                    : sonde_status_text(status));
        return status;
    }
    status = sonde__csv_next(&file, &row);
    if (status == SONDE_EEND)
        complain(analysis, file.too_long ? "no line in it is short enough to be a record"
                                         : "the file is empty");
    else if (status != SONDE_OK)
        complain(analysis, sonde_status_text(status));
    else if (!sonde__packet_columns_find(&row, &columns))
        status = refuse_header(analysis, &row);
    if (status == SONDE_OK) {
        while ((status = sonde__csv_next(&file, &row)) == SONDE_OK)
            take_row(analysis, &columns, &row, &packet);
        if (status != SONDE_EEND)
            complain(analysis, sonde_status_text(status));
        else
            status = SONDE_OK;
    } else if (status == SONDE_EEND) {
        status = SONDE_EBADDATA;
    }
    analysis->bytes = file.bytes;
    analysis->rows_too_long = file.too_long;
    sonde__csv_close(&file);
    return status;
}

static void take_facts(sonde__analysis *analysis, const sonde_reader *reader)
{
    sonde__session_facts facts;
    sonde__session_facts_read(reader, &facts);
    if (facts.session_name[0])
        memcpy(analysis->session_name, facts.session_name, sizeof analysis->session_name);
    if (facts.start_ns)
        analysis->start_ns = facts.start_ns;
    if (facts.end_ns)
        analysis->end_ns = facts.end_ns;
    analysis->running = facts.running > 0;
    analysis->processes = facts.processes;
    analysis->processes_died = facts.died;
    if (facts.prompt_tokens || facts.tokens_generated) {
        analysis->prompt_tokens = facts.prompt_tokens;
        analysis->tokens_generated = facts.tokens_generated;
    }
}

static void take_open(sonde__analysis *analysis, const sonde_record *record)
{
    sonde__kept_list *open = &analysis->open;
    analysis->open_count++;
    if (open->count == open->max)
        return;
    sonde__packet packet = {
        .operation = {record->name, record->name_len},
        .device = {record->device, record->device_len},
        .layer = record->has_layer ? record->layer : SONDE__NO_LAYER,
        .duration_ns = record->duration_ns,
    };
    sonde__kept_fill(&open->items[open->count++], &packet, record->start_wall_ns);
}

sonde_status sonde__analyze_journal(sonde__analysis *analysis)
{
    char text[300] = "";
    sonde_reader_options options = SONDE_READER_OPTIONS_DEFAULT;
    options.error = text;
    options.error_size = sizeof text;
    sonde_reader *reader;
    sonde_status status = sonde_reader_open(analysis->path, &options, &reader);
    if (status != SONDE_OK) {
        snprintf(analysis->error, sizeof analysis->error, "%s",
                 text[0] ? text : sonde_status_text(status));
        return status;
    }
    sonde_record record;
    sonde__packet packet = {0};
    while ((status = sonde_reader_next(reader, &record)) == SONDE_OK) {
        if (sonde__packet_of_record(&record, &packet))
            sonde__analysis_add(analysis, &packet);
        else if (record.kind == SONDE_RECORD_OPEN)
            take_open(analysis, &record);
    }
    take_facts(analysis, reader);
    sonde_reader_stats_get(reader, &analysis->stats);
    analysis->bytes = analysis->stats.bytes;
    sonde_reader_close(reader);
    if (status != SONDE_EEND)
        complain(analysis, sonde_status_text(status));
    return status == SONDE_EEND ? SONDE_OK : status;
}
