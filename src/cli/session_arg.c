/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session_arg.h"

sonde_reader *sonde__open_session(const sonde__args *args)
{
    char error[1400] = "";
    sonde_reader_options options = SONDE_READER_OPTIONS_DEFAULT;
    options.error = error;
    options.error_size = sizeof error;
    sonde_reader *reader;
    sonde_status status = sonde_reader_open(args->operand[0], &options, &reader);
    if (status == SONDE_OK)
        return reader;
    sonde__command_error(args->command, "%s", error[0] != '\0' ? error : sonde_status_text(status));
    return NULL;
}
