/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are cut into records without end: every byte belongs to one record, and what was read
   without damage is read again the same after it was written. */
#include "base/csv_read.h"
#include "base/csv_write.h"
#include "fuzz.h"
#include "view/packet_csv.h"

#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_round_trip(const sonde__csv_row *row)
{
    sonde__buf buf;
    sonde__csv_row again;
    sonde__buf_init(&buf, 16 << 20);
    for (unsigned i = 0; i < row->count; i++) {
        if (i > 0)
            sonde__buf_char(&buf, ',');
        sonde__csv_text(&buf, row->field[i].text, row->field[i].len);
    }
    sonde__buf_char(&buf, '\n');
    require(sonde__csv_parse(buf.data, buf.len, false, &again) == buf.len);
    require(again.count == row->count && !again.damaged);
    for (unsigned i = 0; i < row->count; i++)
        require(again.field[i].len == row->field[i].len &&
                (again.field[i].len == 0 ||
                 memcmp(again.field[i].text, row->field[i].text, again.field[i].len) == 0));
    sonde__buf_free(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    sonde__packet_columns columns;
    sonde__packet packet = {0};
    bool known = false;
    sonde__csv_row row;
    for (size_t at = 0; at < size;) {
        size_t used = sonde__csv_parse(text + at, size - at, true, &row);
        require(used > 0 && used <= size - at && row.count > 0);
        at += used;
        if (!row.damaged && row.count <= SONDE__CSV_FIELDS_MAX)
            check_round_trip(&row);
        if (known)
            (void)sonde__packet_csv_read(&columns, &row, &packet);
        known = known || sonde__packet_columns_find(&row, &columns);
    }
    free(text);
    return 0;
}
