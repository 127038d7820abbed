/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_CLI_SETTINGS_ARG_H
#define SONDE_CLI_SETTINGS_ARG_H

#include "cli/command.h"
#include "sonde/settings.h"

/* Loads what --settings names, or the settings found by the usual look-up. False after a line on
 * stderr. */
bool sonde__load_settings(const sonde__args *args, sonde_settings **out);

#endif
