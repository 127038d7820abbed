/* SPDX-License-Identifier: Apache-2.0 */
/* The digest covers user, hash and password, each with its length: no two triples share an input
   (CVE-2022-46146 was a cache whose keys could be made to collide). */
#include "serve/password_check.h"

#include <crypt.h>
#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>

/* What unknown users are compared with: of a password nobody knows. */
static const char nobody[] = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi";

bool sonde__passwords_init(sonde__passwords *all, const sonde__web_config *config)
{
    memset(all, 0, sizeof *all);
    all->config = config;
    return gnutls_rnd(GNUTLS_RND_KEY, all->key, sizeof all->key) == 0;
}

static const char *hash_of(const sonde__passwords *all, const char *user)
{
    for (size_t i = 0; i < all->config->user_count; i++)
        if (strcmp(all->config->users[i].name, user) == 0)
            return all->config->users[i].hash;
    return NULL;
}

static bool digest_of(const sonde__passwords *all, const sonde__credentials *given, uint8_t *out)
{
    const char *hash = hash_of(all, given->user);
    if (!hash)
        return false;
    const char *const parts[] = {given->user, hash, given->password};
    uint8_t text[SONDE__SERVE_NAME_BYTES + SONDE__SERVE_PASSWORD_BYTES + 128];
    size_t len = 0;
    for (size_t i = 0; i < 3; i++) {
        uint16_t size = (uint16_t)strlen(parts[i]);
        memcpy(text + len, &size, sizeof size);
        memcpy(text + len + sizeof size, parts[i], size);
        len += sizeof size + size;
    }
    bool made = gnutls_hmac_fast(GNUTLS_MAC_SHA256, all->key, sizeof all->key, text, len, out) == 0;
    explicit_bzero(text, sizeof text);
    return made;
}

bool sonde__passwords_known(const sonde__passwords *all, const sonde__credentials *given)
{
    uint8_t digest[SONDE__PASSWORD_DIGEST];
    bool found = false;
    if (!digest_of(all, given, digest))
        return false;
    for (unsigned i = 0; i < all->known_count; i++)
        found |= gnutls_memcmp(all->known[i], digest, sizeof digest) == 0;
    return found;
}

bool sonde__passwords_verify(const sonde__passwords *all, const sonde__credentials *given)
{
    const char *hash = hash_of(all, given->user);
    const char *setting = hash ? hash : nobody;
    struct crypt_data *data = calloc(1, sizeof *data);
    if (!data)
        return false;
    const char *made = crypt_r(given->password, setting, data);
    bool same = made && strlen(made) == strlen(setting) &&
                gnutls_memcmp(made, setting, strlen(setting)) == 0;
    explicit_bzero(data, sizeof *data);
    free(data);
    return same && hash != NULL;
}

void sonde__passwords_remember(sonde__passwords *all, const sonde__credentials *given)
{
    uint8_t digest[SONDE__PASSWORD_DIGEST];
    if (!digest_of(all, given, digest))
        return;
    memcpy(all->known[all->next], digest, sizeof digest);
    all->next = (all->next + 1) % SONDE__SERVE_PASSWORDS_KNOWN;
    if (all->known_count < SONDE__SERVE_PASSWORDS_KNOWN)
        all->known_count++;
}
