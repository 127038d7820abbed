/* SPDX-License-Identifier: Apache-2.0 */
/* Basic usage: one record into usage metrics.
   Build: cc attributes_basic.c $(pkg-config --cflags --libs sonde) */
#include <sonde/sonde.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    const char *raw_data = "{\"action\": \"train\", \"network\": \"ResNet-50\", "
                           "\"version\": \"5.3.0\", \"success\": true, "
                           "\"gpu\": [\"NVIDIA A100\", \"NVIDIA A100\"]}";
    sonde_processor *processor = NULL; /* the default builders: legacy, comprehensive, time */
    sonde_usage *metrics = NULL;
    sonde_attributes_error error = {"out of memory"};
    char *json = NULL;
    size_t len;
    int64_t passed = 0;

    sonde_status status = sonde_processor_create(NULL, &processor, &error);
    if (status == SONDE_OK)
        status = sonde_usage_create(0, &metrics);
    if (status == SONDE_OK)
        status = sonde_processor_process_json(processor, metrics, raw_data, strlen(raw_data), NULL,
                                              &error);
    if (status == SONDE_OK)
        status = sonde_usage_to_json(metrics, &json, &len);
    if (status == SONDE_OK)
        status = sonde_usage_get_int(metrics, "total_action_train_pass", &passed);
    if (status == SONDE_OK)
        printf("%s\n", json);
    else
        fprintf(stderr, "%s: %s\n", sonde_status_name(status), error.text);

    free(json);
    sonde_usage_destroy(metrics);
    sonde_processor_destroy(processor);
    return passed == 1 ? 0 : 1;
}
