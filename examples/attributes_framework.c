/* SPDX-License-Identifier: Apache-2.0 */
/* A new attribute: `framework`, a text that is sanitised by itself and part of the comprehensive
   name. In settings.yaml the same is:

     attributes:
       table:
         - {name: framework, type: string, default: pytorch, metric_order: 6}

   Build: cc attributes_framework.c $(pkg-config --cflags --libs sonde) */
#include <sonde/sonde.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char *const records[] = {
        "{\"network\": \"ResNet-50\", \"framework\": \"Tensor-Flow\", \"gpu\": \"NVIDIA A100\"}",
        "{\"network\": \"ResNet-50\", \"gpu\": \"NVIDIA A100\"}",
    };
    static const char *const expected[] = {
        "network_resnet_50_action_unknown_version_unknown_status_fail_framework_tensor_flow_"
        "gpu_1_NVIDIA_A100_1",
        "network_resnet_50_action_unknown_version_unknown_status_fail_framework_pytorch_"
        "gpu_1_NVIDIA_A100_1",
    };
    const sonde_attribute framework = {
        .name = "framework",
        .raw_key = "framework",
        .type = SONDE_ATTRIBUTE_STRING,
        .standard = "pytorch",
        .metric_order = 6,
        .include_in_comprehensive = 1,
    };
    sonde_attributes *attributes = NULL;
    sonde_processor *processor = NULL;
    sonde_usage *metrics = NULL;
    sonde_attributes_error error = {"out of memory"};
    sonde_processor_options options = SONDE_PROCESSOR_OPTIONS_DEFAULT;

    sonde_status status = sonde_attributes_create(0, &attributes);
    if (status == SONDE_OK)
        status = sonde_attributes_add(attributes, &framework, &error);
    options.attributes = attributes;
    if (status == SONDE_OK)
        status = sonde_processor_create(&options, &processor, &error);
    if (status == SONDE_OK)
        status = sonde_usage_create(0, &metrics);
    for (size_t i = 0; status == SONDE_OK && i < 2; i++) {
        int64_t count;
        status = sonde_processor_process_json(processor, metrics, records[i], strlen(records[i]),
                                              NULL, &error);
        if (status == SONDE_OK)
            status = sonde_usage_get_int(metrics, expected[i], &count);
        if (status == SONDE_OK)
            printf("%s %lld\n", expected[i], (long long)count);
    }
    if (status != SONDE_OK)
        fprintf(stderr, "%s: %s\n", sonde_status_name(status), error.text);

    sonde_usage_destroy(metrics);
    sonde_processor_destroy(processor);
    sonde_attributes_destroy(attributes);
    return status == SONDE_OK ? 0 : 1;
}
