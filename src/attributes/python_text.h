/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values as the text that Python's str() makes of them: the original builds names from it. */
#ifndef SONDE_ATTRIBUTES_PYTHON_TEXT_H
#define SONDE_ATTRIBUTES_PYTHON_TEXT_H

#include "base/buf.h"
#include "base/json_read.h"

#include <stdbool.h>

/* Appends str() of the value that token begins, and reads it to its end. *truthy: what bool() makes
   of it. False: the reader has an error. */
bool sonde__python_str(sonde__json_reader *reader, sonde__json_token token, sonde__buf *out,
                       bool *truthy);

#endif
