/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/embedded.h"

/* SONDE_OPENAPI_FILE is told by the build, which compiles this again when the file changes. */
__asm__(".section .rodata\n"
        ".global sonde__openapi_begin\n"
        ".global sonde__openapi_end\n"
        "sonde__openapi_begin:\n"
        ".incbin \"" SONDE_OPENAPI_FILE "\"\n"
        "sonde__openapi_end:\n"
        ".previous\n");

extern const char sonde__openapi_begin[];
extern const char sonde__openapi_end[];

const char *sonde__embedded_openapi(size_t *len)
{
    *len = (size_t)(sonde__openapi_end - sonde__openapi_begin);
    return sonde__openapi_begin;
}
