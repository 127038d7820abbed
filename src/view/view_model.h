/* SPDX-License-Identifier: Apache-2.0 */
/* A view as encoders see it: families in order, the series of each behind one another, and for each
   series a piece of the format's bytes that does not change with its value, made once. */
#ifndef SONDE_VIEW_VIEW_MODEL_H
#define SONDE_VIEW_VIEW_MODEL_H

#include "base/buf.h"
#include "sonde/encode.h"

#include <stdbool.h>

enum {
    SONDE__ENCODED_MAX = 256 << 20, /* bytes of one encoding */
    SONDE__EXEMPLARS_MAX = 4096,    /* 72 bytes each */
};

typedef struct sonde__view_series {
    const sonde_metric *metric; /* of the set that was added last */
    uint32_t source;
    uint32_t index; /* in its set */
} sonde__view_series;

typedef struct sonde__view_family {
    const char *name;
    const char *help;
    sonde_metric_kind kind;
    uint32_t first; /* of the view's series */
    uint32_t count;
    uint32_t cursor; /* for encoders that go by source: the next series; see rewind */
} sonde__view_family;

/* Bytes of all series that do not change; of series i: from end[i - 1] to end[i]. */
typedef struct sonde__rendered {
    sonde__buf bytes;
    size_t *end;
    size_t cap;
    uint64_t generation; /* of the view it was made for; 0: never */
} sonde__rendered;

typedef enum sonde__rendering {
    SONDE__RENDER_TEXT,   /* Prometheus: name{labels} */
    SONDE__RENDER_PROMPB, /* Label messages */
    SONDE__RENDER_OTLP,   /* attributes of a data point */
    SONDE__RENDERINGS
} sonde__rendering;

typedef struct sonde__exemplar {
    uint64_t run;
    uint64_t activity; /* hash of its name */
    uint64_t trace_hi, trace_lo, span;
    uint64_t wall_ns;
    double value;
    int octave;
} sonde__exemplar;

typedef struct sonde__view_known {
    sonde__buf identity; /* of all its series, one behind the other */
    sonde__buf labels;   /* and the source's own, as texts with their NULs */
    sonde_view_source source;
    size_t series;
} sonde__view_known;

struct sonde_view {
    sonde__view_known *sources;
    size_t source_count, source_cap, planned_sources;
    bool changed; /* families are to be worked out anew */
    uint64_t generation;
    sonde__view_family *families;
    size_t family_count, family_cap;
    sonde__view_series *series;
    size_t series_count, series_cap;
    size_t skipped;
    uint64_t wall_ns;
    sonde_snapshot snapshot;
    bool has_snapshot;
    sonde__rendered rendered[SONDE__RENDERINGS];
    sonde__exemplar *exemplars; /* a table by hash */
    size_t exemplar_count;
    sonde__buf out;
};

/* A label of a series with those of its source: keys as they are to be written. */
typedef struct sonde__view_label {
    const char *prefix; /* "exported_" or "" */
    const char *key;
    const char *value;
} sonde__view_label;

/* The labels of a series, the source's first; calls each. */
void sonde__view_labels(const sonde_view *view, const sonde__view_series *series,
                        void (*each)(void *user, const sonde__view_label *label), void *user);

/* Families and series for what was added. False: no memory. */
bool sonde__view_plan(sonde_view *view);

/* Puts the cursor of each family to its first series. */
void sonde__view_rewind(sonde_view *view);

/* What render writes for each series, kept until series change. NULL: no memory. */
const sonde__rendered *sonde__view_render(sonde_view *view, sonde__rendering which,
                                          void (*render)(const sonde_view *view,
                                                         const sonde__view_family *family,
                                                         const sonde__view_series *series,
                                                         sonde__buf *out));

static inline void sonde__rendered_put(const sonde__rendered *rendered, size_t series,
                                       sonde__buf *out)
{
    size_t from = series ? rendered->end[series - 1] : 0;
    sonde__buf_append(out, rendered->bytes.data + from, rendered->end[series] - from);
}

/* The example of a bucket between 2^octave and 2^(octave + 1); NULL: none. */
const sonde__exemplar *sonde__view_exemplar_of(const sonde_view *view,
                                               const sonde__view_series *series, int octave);

/* The value of a label of a series itself; NULL: it has no such key. */
const char *sonde__metric_label(const sonde_metric *metric, const char *key);

#endif
