/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as Host, Accept, Accept-Encoding, Authorization and request target: they are judged,
   and what comes out is within its bounds. */
#include "fuzz.h"

#include "serve/http_fields.h"

#include <stdlib.h>
#include <string.h>

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check_target(const char *text, size_t size)
{
    static sonde__target target;
    if (!sonde__target_parse(text, size, &target))
        return;
    require(target.count <= SONDE__SERVE_QUERY_MAX && strlen(target.path) <= size);
    for (size_t i = 0; i < target.count; i++) {
        const char *value = sonde__target_get(&target, target.query[i].key);
        size_t count;
        require(value == target.query[i].value);
        require(value + strlen(value) < target.text + sizeof target.text);
        if (sonde__count_parse(value, 1000, &count))
            require(count >= 1 && count <= 1000);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const allowed[] = {"example.org"};
    char none = '\0';
    const char *text = size ? (const char *)data : &none;
    bool host = sonde__host_allowed(text, size, allowed, 1);
    require(!host || memchr(text, '\0', size) == NULL);
    int plain = sonde__accept_quality(text, size, "text/plain", "version=0.0.4", false);
    int named = sonde__accept_quality(text, size, "text/plain", "version=0.0.4", true);
    require(plain >= -1 && plain <= 1000 && named >= -1 && named <= 1000);
    sonde__accepts_gzip(text, size);
    sonde__credentials credentials;
    if (sonde__basic_auth_parse(text, size, &credentials))
        require(strlen(credentials.user) < sizeof credentials.user &&
                strlen(credentials.password) < sizeof credentials.password &&
                strchr(credentials.user, ':') == NULL);
    check_target(text, size);
    return 0;
}
