/* SPDX-License-Identifier: Apache-2.0 */
/* Settings from a YAML file, docs/settings.md. A file is applied wholly or not at all. A handle
   does not change once it is made, so any number of threads may read it. */
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
   $XDG_CONFIG_HOME/sonde/settings.yaml (~/.config/sonde/settings.yaml where that variable is not
   set); with none of them the defaults. A file that was named, by path or by SONDE_SETTINGS, but is
   not there is an error; an empty SONDE_SETTINGS names nothing. On failure error (may be NULL)
   holds the line, *out is untouched: EABSENT, EDENIED, EIO (reading), EBADDATA (content, or not a
   regular file), ELIMIT (too large), ENOMEM. Reads the environment: not while another thread
   changes it. */
SONDE_API sonde_status sonde_settings_load(const char *path, sonde_settings **out,
                                           sonde_settings_error *error);

/* The same from text in memory (NULL when len is 0); name stands for the file in messages and in
   sonde_settings_path. */
SONDE_API sonde_status sonde_settings_parse(const char *text, size_t len, const char *name,
                                            sonde_settings **out, sonde_settings_error *error);

/* NULL is allowed. */
SONDE_API void sonde_settings_free(sonde_settings *settings);

/* The file that was read, or NULL for the defaults. Borrowed. */
SONDE_API const char *sonde_settings_path(const sonde_settings *settings);

/* Flowcept's blocks in the file that say nothing to Sonde and were passed over ("mq", "adapters"):
   the name of the index-th, in the order of the file, or NULL beyond the last. Static storage. */
SONDE_API const char *sonde_settings_ignored(const sonde_settings *settings, size_t index);

/* What telemetry_capture says, ready for sonde_capture_open. Borrowed until settings are freed. */
SONDE_API const sonde_capture_options *sonde_settings_capture(const sonde_settings *settings);

/* One setting by its dotted key ("instrumentation.enabled"). EINVAL: no such key, or of another
   type; EOFF: it is null (~), which for a bool is 0 instead; EABSENT: beyond the last element of a
   list. Text and list elements are borrowed. On failure *out is untouched. */
SONDE_API sonde_status sonde_settings_bool(const sonde_settings *settings, const char *key,
                                           int *out);
SONDE_API sonde_status sonde_settings_int(const sonde_settings *settings, const char *key,
                                          long *out);
SONDE_API sonde_status sonde_settings_text(const sonde_settings *settings, const char *key,
                                           const char **out);
SONDE_API sonde_status sonde_settings_list(const sonde_settings *settings, const char *key,
                                           size_t index, const char **out);

/* One field of the index-th block of a list of blocks ("attributes.table", 0, "name"), as text.
   EINVAL: no such key or field; EABSENT: beyond the last block; EOFF: the block does not have it.
 */
SONDE_API sonde_status sonde_settings_item(const sonde_settings *settings, const char *key,
                                           size_t index, const char *field, const char **out);

/* Where such a block starts in the file, both from 1: for a message about it. EINVAL, EABSENT. */
SONDE_API sonde_status sonde_settings_item_place(const sonde_settings *settings, const char *key,
                                                 size_t index, size_t *line, size_t *column);

/* The effective settings as YAML with comments that explain each key, NUL-terminated; the caller
   frees it with free(). This is also the template of a new file. */
SONDE_API sonde_status sonde_settings_to_yaml(const sonde_settings *settings, char **out);

#ifdef __cplusplus
}
#endif

#endif
