/* SPDX-License-Identifier: Apache-2.0 */
/* exporter-toolkit's file: its keys as they are, those not honoured refused by name. */
#include "serve/web_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HASH "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"

static sonde_settings_error error;

static sonde_status parse(const char *text, sonde__web_config *out)
{
    memset(&error, 0, sizeof error);
    return sonde__web_config_parse(text, strlen(text), "web.yml", "/etc/sonde", out, &error);
}

static void test_all_that_is_honoured(void **state)
{
    (void)state;
    sonde__web_config config;
    assert_int_equal(parse("tls_server_config:\n"
                           "  cert_file: server.crt\n"
                           "  key_file: /keys/server.key\n"
                           "  client_auth_type: RequireAndVerifyClientCert\n"
                           "  client_ca_file: ca.crt\n"
                           "  min_version: TLS13\n"
                           "http_server_config:\n"
                           "  http2: false\n"
                           "  headers:\n"
                           "    X-Frame-Options: SAMEORIGIN\n"
                           "    Strict-Transport-Security: max-age=31536000\n"
                           "basic_auth_users:\n"
                           "  alice: " HASH "\n"
                           "  bob: '" HASH "'\n",
                           &config),
                     SONDE_OK);
    assert_string_equal(config.cert_file, "/etc/sonde/server.crt");
    assert_string_equal(config.key_file, "/keys/server.key");
    assert_string_equal(config.client_ca_file, "/etc/sonde/ca.crt");
    assert_int_equal(config.client_auth, SONDE__CLIENT_AUTH_REQUIRE);
    assert_int_equal(config.min_version, 13);
    assert_string_equal(config.header[3], "SAMEORIGIN");
    assert_string_equal(config.header[1], "max-age=31536000");
    assert_int_equal(config.user_count, 2);
    assert_string_equal(config.users[1].name, "bob");
    assert_string_equal(config.users[1].hash, HASH);
    sonde__web_config_free(&config);
}

static void test_empty(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "# nothing\n", "tls_server_config:\n", "{}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sonde__web_config config;
        assert_int_equal(parse(texts[i], &config), SONDE_OK);
        assert_null(config.cert_file);
        assert_int_equal(config.min_version, 12);
        sonde__web_config_free(&config);
    }
}

static void refused(const char *text, sonde_status status, const char *message)
{
    sonde__web_config config;
    assert_int_equal(parse(text, &config), status);
    if (!strstr(error.text, message))
        fail_msg("\"%s\" does not say \"%s\"", error.text, message);
    assert_int_equal(config.user_count, 0);
    assert_null(config.cert_file);
}

static void test_not_honoured_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const keys[] = {"cipher_suites",
                                       "curve_preferences",
                                       "prefer_server_cipher_suites",
                                       "client_allowed_sans",
                                       "cert",
                                       "key",
                                       "client_ca"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char text[128];
        char message[64];
        snprintf(text, sizeof text, "tls_server_config:\n  %s: x\n", keys[i]);
        snprintf(message, sizeof message, "web.yml:2:3: %s is not honoured", keys[i]);
        refused(text, SONDE_EUNSUPPORTED, message);
    }
    refused("rate_limit:\n  burst: 1\n", SONDE_EUNSUPPORTED, "rate_limit is not honoured");
    refused("http_server_config:\n  http2: true\n", SONDE_EUNSUPPORTED, "http2 is not spoken");
    refused("tls_server_config:\n  client_auth_type: RequestClientCert\n", SONDE_EUNSUPPORTED,
            "client_auth_type");
}

static void test_wrong(void **state)
{
    (void)state;
    refused("tls_server_confg: {}\n", SONDE_EBADDATA, "did you mean \"tls_server_config\"");
    refused("tls_server_config:\n  cert_file: a\n", SONDE_EBADDATA, "come together");
    refused("tls_server_config:\n  cert_file: a\n  key_file: b\n  client_ca_file: c\n",
            SONDE_EBADDATA, "come together");
    refused("tls_server_config:\n  min_version: TLS99\n", SONDE_EBADDATA, "expected TLS10");
    refused("tls_server_config:\n  cert_file: a\n  key_file: b\n  min_version: TLS13\n"
            "  max_version: TLS12\n",
            SONDE_EBADDATA, "min_version is above max_version");
    refused("basic_auth_users:\n  alice: secret\n", SONDE_EBADDATA, "bcrypt");
    refused("basic_auth_users:\n  \"a:b\": " HASH "\n", SONDE_EBADDATA, "without a colon");
    refused("basic_auth_users: x\n", SONDE_EBADDATA, "NAME: HASH");
    refused("http_server_config:\n  headers:\n    X-Frame-Options: \"a\\nEvil: b\"\n",
            SONDE_EBADDATA, "control characters");
    refused("http_server_config:\n  headers:\n    Set-Cookie: x\n", SONDE_EBADDATA, "unknown key");
    refused("- a\n", SONDE_EBADDATA, "block of keys");
    refused("tls_server_config: &a {}\n", SONDE_EBADDATA, "anchors");
    refused("a: [", SONDE_EBADDATA, "web.yml:1:");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_that_is_honoured),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_not_honoured_is_refused_by_name),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
