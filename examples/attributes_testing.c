/* SPDX-License-Identifier: Apache-2.0 */
/* Testing a builder alone: a record made by hand, one builder, the metrics it makes.
   Build: cc attributes_testing.c $(pkg-config --cflags --libs sonde) */
#include <sonde/sonde.h>

#include <stdio.h>
#include <string.h>

static int test_legacy_builder(void)
{
    static const char *const gpus[] = {"nvidia_a100"};
    sonde_attributes *attributes = NULL;
    sonde_data *data = NULL;
    sonde_usage *metrics = NULL;
    int64_t value = 0;

    if (sonde_attributes_create(0, &attributes) == SONDE_OK &&
        sonde_data_create(attributes, &data) == SONDE_OK &&
        sonde_usage_create(0, &metrics) == SONDE_OK) {
        sonde_data_set_text(data, sonde_attributes_find(attributes, "action"), "train", 5);
        sonde_data_set_text(data, sonde_attributes_find(attributes, "version"), "5_3_0", 5);
        sonde_data_set_text(data, sonde_attributes_find(attributes, "network"), "resnet50", 8);
        sonde_data_set_bool(data, sonde_attributes_find(attributes, "success"), 1);
        sonde_data_set_list(data, sonde_attributes_find(attributes, "gpus"), gpus, 1);

        sonde_builder_build(sonde_builder_named("legacy"), data, NULL, metrics, NULL);

        sonde_usage_get_int(metrics, "total_action_train_pass", &value);
    }
    sonde_usage_destroy(metrics);
    sonde_data_destroy(data);
    sonde_attributes_destroy(attributes);
    return value == 1;
}

int main(void)
{
    int passed = test_legacy_builder();
    printf("legacy builder: %s\n", passed ? "passed" : "FAILED");
    return passed ? 0 : 1;
}
