/* SPDX-License-Identifier: Apache-2.0 */
/* A settings file that cannot be read changes nothing; `sonde check` says what is wrong with it. */
#include "record/session_settings.h"

#include "record/limits.h"
#include "record/machine_frame.h"
#include "record/reading.h"
#include "record/recorder.h"
#include "sonde/settings.h"

#include <stdlib.h>
#include <string.h>

bool sonde__env_is_on(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] != '\0' && strcmp(value, "0") != 0;
}

static void fill_bytes(const sonde_settings *settings, const char *key, uint64_t *bytes)
{
    long value = 0;
    if (*bytes == 0 && sonde_settings_int(settings, key, &value) == SONDE_OK && value > 0)
        *bytes = (uint64_t)value;
}

static void fill(const sonde_settings *settings, sonde_options *options)
{
    const char *text = "";
    long level = 0;
    if (options->safety == SONDE_SAFETY_SETTING &&
        sonde_settings_text(settings, "session.safety", &text) == SONDE_OK)
        options->safety = strcmp(text, "memory") == 0    ? SONDE_SAFETY_MEMORY
                          : strcmp(text, "durable") == 0 ? SONDE_SAFETY_DURABLE
                                                         : SONDE_SAFETY_WRITTEN;
    if (options->when_full == SONDE_FULL_SETTING &&
        sonde_settings_text(settings, "session.when_full", &text) == SONDE_OK)
        options->when_full =
            strcmp(text, "keep_last") == 0 ? SONDE_FULL_KEEP_LAST : SONDE_FULL_STOP;
    if (options->zstd_level == 0 &&
        sonde_settings_int(settings, "session.zstd_level", &level) == SONDE_OK)
        options->zstd_level = (int)level;
    fill_bytes(settings, "session.part_bytes", &options->part_bytes);
    fill_bytes(settings, "session.bytes_max", &options->bytes_max);
}

/* Parts small enough that some of them fit below the limit, and none without need. */
static void settle_parts(sonde_options *options)
{
    uint64_t max = options->bytes_max;
    if (max == 0)
        options->when_full = SONDE_FULL_STOP;
    if (options->when_full == SONDE_FULL_KEEP_LAST) {
        if (options->part_bytes == 0)
            options->part_bytes = max / SONDE__PARTS_KEPT;
        if (options->part_bytes > max / 2)
            options->part_bytes = max / 2;
    }
    if (options->part_bytes > 0 && options->part_bytes < SONDE__PART_BYTES_MIN)
        options->part_bytes = SONDE__PART_BYTES_MIN;
}

/* Whoever counts finished workflows will want what is known of this one. */
static void keep_for_usage(const sonde_settings *settings, sonde_session *session)
{
    int wanted = 0;
    sonde__finished_free(&session->finished);
    if (settings && sonde_settings_path(settings) &&
        sonde_settings_bool(settings, "attributes.enabled", &wanted) == SONDE_OK && wanted)
        sonde__finished_keep(&session->finished, sonde_settings_path(settings),
                             session->options.attrs, session->options.attr_count);
}

sonde_status sonde__session_settings(sonde_session *session, bool *disabled)
{
    sonde_options *options = &session->options;
    sonde_settings *settings = NULL;
    int enabled = 1;
    *disabled = sonde__env_is_on("SONDE_DISABLED");
    if (*disabled)
        return SONDE_OK;
    if (sonde_settings_load(NULL, &settings, NULL) != SONDE_OK)
        settings = NULL;
    if (settings) {
        if (sonde_settings_bool(settings, "instrumentation.enabled", &enabled) == SONDE_OK)
            *disabled = enabled == 0;
        fill(settings, options);
    }
    if (!*disabled)
        sonde__machine_note_take(&sonde__the_recorder.drain.machine, settings);
    keep_for_usage(settings, session);
    sonde__reading_settings(settings, options); /* has the settings from now on */
    if (options->bytes_max > 0 && options->bytes_max < SONDE__BYTES_MAX_MIN)
        return SONDE_EINVAL;
    settle_parts(options);
    return SONDE_OK;
}
