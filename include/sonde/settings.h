/* SPDX-License-Identifier: Apache-2.0 */
/* Settings from a YAML file. A file is applied wholly or not at all. */
#ifndef SONDE_SETTINGS_H
#define SONDE_SETTINGS_H

#include "sonde/capture.h"
#include "sonde/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_settings sonde_settings;

/* One line that a user can act on: "settings.yaml:3:5: unknown key ...". */
typedef struct sonde_settings_error {
    char text[512];
} sonde_settings_error;

/* Loads path, or, when path is NULL, the first that exists of $SONDE_SETTINGS, ./settings.yaml and
   ~/.config/sonde/settings.yaml; with none of them the defaults. A file that was named but is not
   there is an error. On failure error (may be NULL) holds the line, *out is untouched: EABSENT,
   EDENIED, EIO (reading), EBADDATA (content), ELIMIT (too large), ENOMEM. */
SONDE_API sonde_status sonde_settings_load(const char *path, sonde_settings **out,
                                           sonde_settings_error *error);

/* The same from text in memory; name stands for the file in messages. */
SONDE_API sonde_status sonde_settings_parse(const char *text, size_t len, const char *name,
                                            sonde_settings **out, sonde_settings_error *error);

/* NULL is allowed. */
SONDE_API void sonde_settings_free(sonde_settings *settings);

/* The file that was read, or NULL for the defaults. Borrowed. */
SONDE_API const char *sonde_settings_path(const sonde_settings *settings);

/* What telemetry_capture says, ready for sonde_capture_open. Borrowed until settings are freed. */
SONDE_API const sonde_capture_options *sonde_settings_capture(const sonde_settings *settings);

/* One setting by its dotted key ("instrumentation.enabled"). EINVAL: no such key, or of another
   type; EOFF: it is null (~). Text and list elements are borrowed. */
SONDE_API sonde_status sonde_settings_bool(const sonde_settings *settings, const char *key,
                                           int *out);
SONDE_API sonde_status sonde_settings_int(const sonde_settings *settings, const char *key,
                                          long *out);
SONDE_API sonde_status sonde_settings_text(const sonde_settings *settings, const char *key,
                                           const char **out);
SONDE_API sonde_status sonde_settings_list(const sonde_settings *settings, const char *key,
                                           size_t index, const char **out);

/* The effective settings as YAML with comments that explain each key, NUL-terminated; the caller
   frees it with free(). This is also the template of a new file. */
SONDE_API sonde_status sonde_settings_to_yaml(const sonde_settings *settings, char **out);

#ifdef __cplusplus
}
#endif

#endif
