/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in texts that leave the process: names that announce one (token, password, api_key, ...)
   and values that are recognised by their form (user:password@ in a URL, JSON web tokens, PEM
   blocks, keys of well-known services). What is found is replaced by "***". Everything that shows
   an argument or a variable goes through here. Rather too much than too little: what merely looks
   like a secret is masked, too. */
#ifndef SONDE_BASE_MASK_H
#define SONDE_BASE_MASK_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define SONDE__MASK "***"

/* Whether a variable, option or key of this name holds a secret: API_TOKEN, --db-password,
   clientSecret; not max_tokens with a plain number, which is why the value is looked at (NULL: not
   known). */
bool sonde__mask_is_secret(const char *name, size_t len, const char *value, size_t value_len);

/* Appends text to out with the secrets in it masked. */
void sonde__mask_text(const char *text, size_t len, sonde__buf *out);

/* Appends the value of a variable, masked wholly where its name says so. */
void sonde__mask_value(const char *name, const char *value, sonde__buf *out);

/* Appends count arguments, each ended by NUL, in the same form; a secret option hides the argument
   after it (--token abc). */
void sonde__mask_arguments(const char *arguments, size_t count, sonde__buf *out);

#endif
