/* SPDX-License-Identifier: Apache-2.0 */
/* The snapshot in the shape of PyVeda's guide, one line. */
#include "record/snapshot_json.h"
#include "view/view_formats.h"

void sonde__encode_json(sonde_view *view, const sonde_encode_options *options, sonde__buf *out)
{
    (void)options;
    sonde_snapshot snapshot;
    sonde_status status = sonde_view_snapshot_get(view, &snapshot);
    if (status != SONDE_OK) {
        out->status = status;
        return;
    }
    sonde__json json;
    sonde__json_init(&json, out);
    sonde__snapshot_json(&snapshot, &json);
    sonde__buf_char(out, '\n');
}
