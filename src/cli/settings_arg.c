/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/settings_arg.h"

bool sonde__load_settings(const sonde__args *args, sonde_settings **out)
{
    sonde_settings_error error;
    if (sonde_settings_load(sonde__args_get(args, "--settings"), out, &error) == SONDE_OK)
        return true;
    sonde__command_error(args->command, "%s", error.text);
    return false;
}
