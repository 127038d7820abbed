/* SPDX-License-Identifier: Apache-2.0 */
#include "record/machine_frame.h"

#include "capture/machine_json.h"
#include "record/frame_seal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pointers and texts in one allocation. NULL: no memory. */
static char **copy_environment(void)
{
    size_t count = 0, bytes = 0;
    for (; environ && environ[count]; count++)
        bytes += strlen(environ[count]) + 1;
    char **list = malloc((count + 1) * sizeof *list + bytes);
    if (!list)
        return NULL;
    char *at = (char *)(list + count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(environ[i]) + 1;
        list[i] = memcpy(at, environ[i], len);
        at += len;
    }
    list[count] = NULL;
    return list;
}

static sonde_environment environment_of(const sonde_settings *settings)
{
    static const char *const names[] = {
#define ENVIRONMENT_NAME(name, key) key,
        SONDE_ENVIRONMENT_MAP(ENVIRONMENT_NAME)
#undef ENVIRONMENT_NAME
    };
    const char *wanted;
    if (settings &&
        sonde_settings_text(settings, "telemetry_capture.environment", &wanted) == SONDE_OK)
        for (int i = 0; i < SONDE_ENVIRONMENT_COUNT; i++)
            if (strcmp(wanted, names[i]) == 0)
                return (sonde_environment)i;
    return SONDE_ENVIRONMENT_LISTED;
}

void sonde__machine_note_take(sonde__machine_note *note, const sonde_settings *settings)
{
    int wanted = 1;
    sonde__machine_note_free(note);
    if (settings &&
        sonde_settings_bool(settings, "telemetry_capture.machine_info", &wanted) != SONDE_OK)
        wanted = 1;
    note->environment = environment_of(settings);
    note->variables = wanted ? copy_environment() : NULL;
    note->wanted = note->variables != NULL;
}

static sonde_status write_frame(sonde__journal *journal, uint64_t session, uint64_t run, char *text,
                                size_t len)
{
    sonde__frame_header header =
        sonde__frame_header_new(SONDE__FRAME_MACHINE, SONDE__FRAME_NO_LANE, session, run);
    struct iovec pieces[2] = {{&header, sizeof header}, {text, len}};
    uint32_t length = sonde__frame_seal(&header, &pieces[1], 1);
    return sonde__journal_write(journal, pieces, 2, length);
}

void sonde__machine_frame_write(sonde__machine_note *note, sonde__journal *journal,
                                uint64_t session, uint64_t run)
{
    if (!note->wanted)
        return;
    sonde_machine_options options = SONDE_MACHINE_OPTIONS_DEFAULT;
    options.environment = note->environment;
    char *text;
    size_t len;
    sonde_status status =
        sonde__machine_json(&options, (const char *const *)note->variables, &text, &len);
    if (status == SONDE_OK) {
        if (len < SONDE__FRAME_BYTES_MAX - sizeof(sonde__frame_header))
            status = write_frame(journal, session, run, text, len);
        free(text);
    }
    if (status == SONDE_OK)
        sonde__machine_note_free(note);
}

void sonde__machine_note_free(sonde__machine_note *note)
{
    free(note->variables);
    *note = (sonde__machine_note){0};
}
