/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are part of the program. */
#ifndef SONDE_SERVE_EMBEDDED_H
#define SONDE_SERVE_EMBEDDED_H

#include <stddef.h>

/* docs/openapi.json */
const char *sonde__embedded_openapi(size_t *len);

#endif
