/* SPDX-License-Identifier: Apache-2.0 */
/* Any text: it is refused with one printable line, or what is written of it reads the same. */
#include "fuzz.h"

#include "sonde/settings.h"

#include <stdlib.h>
#include <string.h>

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check_line(const sonde_settings_error *error)
{
    size_t len = strnlen(error->text, sizeof error->text);
    require(len > 0 && len < sizeof error->text);
    for (size_t i = 0; i < len; i++)
        require((unsigned char)error->text[i] >= 0x20 && error->text[i] != 0x7F);
}

static void check_round_trip(const sonde_settings *settings)
{
    char *yaml = NULL;
    char *again = NULL;
    sonde_settings *copy = NULL;
    require(sonde_settings_to_yaml(settings, &yaml) == SONDE_OK);
    require(sonde_settings_parse(yaml, strlen(yaml), "written", &copy, NULL) == SONDE_OK);
    require(sonde_settings_to_yaml(copy, &again) == SONDE_OK);
    require(strcmp(yaml, again) == 0);
    require(sonde_settings_capture(settings)->types == sonde_settings_capture(copy)->types);
    sonde_settings_free(copy);
    free(again);
    free(yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sonde_settings *settings = NULL;
    sonde_settings_error error = {""};
    sonde_status status =
        sonde_settings_parse((const char *)data, size, "fuzz.yaml", &settings, &error);
    if (status != SONDE_OK) {
        require(status == SONDE_EBADDATA || status == SONDE_ELIMIT);
        require(settings == NULL);
        check_line(&error);
        return 0;
    }
    check_round_trip(settings);
    sonde_settings_free(settings);
    return 0;
}
