/* SPDX-License-Identifier: Apache-2.0 */
/* A vendor's shared library, loaded when it is there. */
#ifndef SONDE_CAPTURE_VENDOR_LIBRARY_H
#define SONDE_CAPTURE_VENDOR_LIBRARY_H

#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sonde__symbol {
    const char *name;
    size_t offset; /* of the function pointer in the table that is filled */
    bool required;
} sonde__symbol;

/* Loads the first of names (NULL-terminated) that can be, and fills the function pointers of table;
   those the library does not have are NULL. EABSENT: no such library; EUNSUPPORTED: it lacks a
   required function. A library stays loaded for the life of the process. */
sonde_status sonde__library_load(const char *const *names, const sonde__symbol *symbols,
                                 size_t count, void *table);

#endif
