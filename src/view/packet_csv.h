/* SPDX-License-Identifier: Apache-2.0 */
/* Work packets as rows of the CSV log: timestamp, device, worker_instance, duration_ms, packet_id,
   layer_idx, operation, success, memory_used_mb, error_message. */
#ifndef SONDE_VIEW_PACKET_CSV_H
#define SONDE_VIEW_PACKET_CSV_H

#include "base/buf.h"
#include "base/csv_read.h"
#include "view/packet.h"

/* The first line, with its line end. */
extern const char sonde__packet_csv_header[];

/* Appends one row, ended by LF. */
void sonde__packet_csv_write(sonde__buf *buf, const sonde__packet *packet);

/* X(name, column). In the order they are written. */
#define SONDE__PACKET_COLUMN_MAP(X) \
    X(TIMESTAMP, "timestamp")       \
    X(DEVICE, "device")             \
    X(WORKER, "worker_instance")    \
    X(DURATION, "duration_ms")      \
    X(PACKET, "packet_id")          \
    X(LAYER, "layer_idx")           \
    X(OPERATION, "operation")       \
    X(SUCCESS, "success")           \
    X(MEMORY, "memory_used_mb")     \
    X(ERROR, "error_message")

typedef enum sonde__packet_column {
#define SONDE__PACKET_COLUMN_ENUM(name, text) SONDE__COLUMN_##name,
    SONDE__PACKET_COLUMN_MAP(SONDE__PACKET_COLUMN_ENUM)
#undef SONDE__PACKET_COLUMN_ENUM
        SONDE__PACKET_COLUMNS
} sonde__packet_column;

const char *sonde__packet_column_name(sonde__packet_column column);

/* Where the columns stand in a file: in any order, with others between them. */
typedef struct sonde__packet_columns {
    int at[SONDE__PACKET_COLUMNS]; /* -1: the file does not have it */
    unsigned count;                /* of the header */
} sonde__packet_columns;

/* False when the row is not a header of such a log: duration_ms or operation is missing. */
bool sonde__packet_columns_find(const sonde__csv_row *header, sonde__packet_columns *out);

/* What was wrong with a row. */
typedef enum sonde__row_state {
    SONDE__ROW_OK,
    SONDE__ROW_HEADER, /* the header again: files joined with cat */
    SONDE__ROW_SHORT,  /* fewer fields than the header, or a quote left open */
    SONDE__ROW_BAD,    /* a number or a flag is not one */
} sonde__row_state;

/* Decodes a row. Borrows from it. Missing columns: device cpu, success, the rest empty. */
sonde__row_state sonde__packet_csv_read(const sonde__packet_columns *columns,
                                        const sonde__csv_row *row, sonde__packet *out);

#endif
