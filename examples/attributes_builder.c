/* SPDX-License-Identifier: Apache-2.0 */
/* A custom builder: failures by action, for alerting, beside the default builders.
   Build: cc attributes_builder.c $(pkg-config --cflags --libs sonde) */
#include <sonde/sonde.h>

#include <stdio.h>
#include <string.h>

static sonde_status build_alerts(void *user, const sonde_data *data,
                                 const sonde_build_context *context, sonde_updates *updates)
{
    (void)user;
    (void)context;
    int success;
    const char *action;
    size_t len;
    sonde_status status = sonde_data_bool(data, "success", &success);
    if (status == SONDE_OK)
        status = sonde_data_text(data, "action", &action, &len);
    if (status == SONDE_OK && !success) {
        char key[128];
        snprintf(key, sizeof key, "failure_%.*s", (int)len, action);
        sonde_updates_count(updates, key, 1);
    }
    return status;
}

static const sonde_builder alert_builder = {.name = "alerts", .build = build_alerts};

int main(void)
{
    static const char *const records[] = {
        "{\"action\": \"train\", \"success\": true}",
        "{\"action\": \"train\", \"success\": false}",
        "{\"action\": \"export\", \"success\": false}",
        "{\"action\": \"train\", \"success\": false}",
    };
    sonde_processor *processor = NULL;
    sonde_usage *metrics = NULL;
    sonde_attributes_error error = {"out of memory"};
    int64_t failures = 0;

    sonde_status status = sonde_processor_create(NULL, &processor, &error);
    if (status == SONDE_OK)
        status = sonde_processor_add_builder(processor, &alert_builder, &error);
    if (status == SONDE_OK)
        status = sonde_usage_create(0, &metrics);
    for (size_t i = 0; status == SONDE_OK && i < sizeof records / sizeof records[0]; i++)
        status = sonde_processor_process_json(processor, metrics, records[i], strlen(records[i]),
                                              NULL, &error);
    if (status == SONDE_OK)
        status = sonde_usage_get_int(metrics, "failure_train", &failures);
    if (status == SONDE_OK)
        printf("failure_train %lld\n", (long long)failures);
    else
        fprintf(stderr, "%s: %s\n", sonde_status_name(status), error.text);

    sonde_usage_destroy(metrics);
    sonde_processor_destroy(processor);
    return failures == 2 ? 0 : 1;
}
