/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's description for threads of the library, which must not touch the environment: the
   host may be changing it. */
#ifndef SONDE_CAPTURE_MACHINE_JSON_H
#define SONDE_CAPTURE_MACHINE_JSON_H

#include "sonde/machine.h"

/* sonde_machine_json with the environment given as a list like environ. */
sonde_status sonde__machine_json(const sonde_machine_options *options, const char *const *variables,
                                 char **text, size_t *len);

#endif
