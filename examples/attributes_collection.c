/* SPDX-License-Identifier: Apache-2.0 */
/* A collection of builders: only these, in this order; the custom one keeps the longest time.
   Build: cc attributes_collection.c $(pkg-config --cflags --libs sonde) */
#include <sonde/sonde.h>

#include <stdio.h>
#include <string.h>

static sonde_status build_longest(void *user, const sonde_data *data,
                                  const sonde_build_context *context, sonde_updates *updates)
{
    (void)user;
    (void)context;
    double seconds;
    sonde_status status = sonde_data_number(data, "time_lapsed", &seconds);
    if (status == SONDE_OK)
        sonde_updates_value(updates, "longest_job_seconds", SONDE_AGGREGATE_MAX, seconds);
    return status;
}

static const sonde_builder longest_builder = {
    .name = "longest", .after = "time", .build = build_longest};

int main(void)
{
    static const char *const records[] = {
        "{\"network\": \"YOLOv4\", \"time_lapsed\": 20}",
        "{\"network\": \"YOLOv4\", \"time_lapsed\": 90}",
        "{\"network\": \"YOLOv4\", \"time_lapsed\": 30}",
    };
    const sonde_builder *builders[] = {sonde_builder_named("comprehensive"), &longest_builder,
                                       sonde_builder_named("time"), NULL};
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;
    options.builders = builders;
    sonde_processor *processor = NULL;
    sonde_usage *metrics = NULL;
    sonde_attributes_error error = {"out of memory"};
    double longest_s = 0;
    double today_s = 0;

    sonde_status status = sonde_processor_create(&options, &processor, &error);
    if (status == SONDE_OK)
        status = sonde_usage_create(0, &metrics);
    for (size_t i = 0; status == SONDE_OK && i < sizeof records / sizeof records[0]; i++)
        status = sonde_processor_process_json(processor, metrics, records[i], strlen(records[i]),
                                              NULL, &error);
    if (status == SONDE_OK)
        status = sonde_usage_get(metrics, "longest_job_seconds", &longest_s);
    if (status == SONDE_OK)
        status = sonde_usage_get(metrics, "time_lapsed_today", &today_s);
    if (status == SONDE_OK)
        printf("longest %g s, together %g s\n", longest_s, today_s);
    else
        fprintf(stderr, "%s: %s\n", sonde_status_name(status), error.text);
    for (size_t i = 0; processor && sonde_processor_builder(processor, i); i++)
        printf("builder %zu: %s\n", i + 1, sonde_processor_builder(processor, i));

    sonde_usage_destroy(metrics);
    sonde_processor_destroy(processor);
    return longest_s == 90 && today_s >= 30 ? 0 : 1;
}
