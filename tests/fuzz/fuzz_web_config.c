/* SPDX-License-Identifier: Apache-2.0 */
/* Any text: it is refused with one printable line and nothing is left, or what was read holds
   together. */
#include "fuzz.h"

#include "serve/web_config.h"

#include <stdlib.h>
#include <string.h>

static void require(int truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sonde__web_config config;
    sonde_settings_error error = {""};
    sonde_status status =
        sonde__web_config_parse((const char *)data, size, "web.yml", "/etc", &config, &error);
    if (status != SONDE_OK) {
        size_t len = strnlen(error.text, sizeof error.text);
        require(len > 0 && len < sizeof error.text && !config.cert_file && !config.user_count);
        for (size_t i = 0; i < len; i++)
            require((unsigned char)error.text[i] >= 0x20 && error.text[i] != 0x7F);
        return 0;
    }
    require(!config.cert_file == !config.key_file);
    require(config.min_version >= 10 && config.min_version <= config.max_version);
    for (size_t i = 0; i < config.user_count; i++)
        require(config.users[i].name[0] && strlen(config.users[i].hash) == 60);
    for (size_t i = 0; i < SONDE__WEB_HEADERS; i++)
        require(!config.header[i] || !strpbrk(config.header[i], "\r\n"));
    sonde__web_config_free(&config);
    return 0;
}
