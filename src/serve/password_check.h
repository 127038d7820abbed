/* SPDX-License-Identifier: Apache-2.0 */
/* Users and their bcrypt hashes. A check takes a tenth of a second by design, so it belongs into a
   worker, one at a time; passwords that were right are remembered as keyed digests. Unknown users
   cost the same as known ones. */
#ifndef SONDE_SERVE_PASSWORD_CHECK_H
#define SONDE_SERVE_PASSWORD_CHECK_H

#include "serve/http_fields.h"
#include "serve/web_config.h"

#include <stdbool.h>
#include <stdint.h>

enum { SONDE__PASSWORD_DIGEST = 32, SONDE__PASSWORD_KEY = 32 };

typedef struct sonde__passwords {
    const sonde__web_config *config; /* borrowed */
    uint8_t key[SONDE__PASSWORD_KEY];
    uint8_t known[SONDE__SERVE_PASSWORDS_KNOWN][SONDE__PASSWORD_DIGEST];
    unsigned known_count;
    unsigned next;
} sonde__passwords;

/* False: no random key can be had. */
bool sonde__passwords_init(sonde__passwords *all, const sonde__web_config *config);

/* Whether this was found right before. Microseconds. */
bool sonde__passwords_known(const sonde__passwords *all, const sonde__credentials *given);

/* Whether it is right, by bcrypt. Touches nothing of the struct but config: any thread. */
bool sonde__passwords_verify(const sonde__passwords *all, const sonde__credentials *given);

/* Remembers one that is right. */
void sonde__passwords_remember(sonde__passwords *all, const sonde__credentials *given);

#endif
