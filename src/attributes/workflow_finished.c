/* SPDX-License-Identifier: Apache-2.0 */
/* A process counts the workflow that it opened when it closes it, where the settings want that.
   What fails here is counted by `sonde aggregate` later: the file remembers which sessions it has.
 */
#include "attributes/workflow_records.h"
#include "record/observer.h"
#include "sonde/settings.h"
#include "sonde/usage_metrics.h"

#include <stdio.h>
#include <stdlib.h>

static sonde_status count(const sonde_settings *settings, const sonde_run *run, const char *path)
{
    long limit = SONDE_USAGE_METRICS_MAX;
    size_t counted = 0;
    sonde_attributes *table;
    sonde_processor *processor;
    sonde_usage_file *file;
    sonde_status status = sonde_processor_from_settings(settings, 0, &table, &processor, NULL);
    if (status != SONDE_OK)
        return status;
    sonde_settings_int(settings, "attributes.max_metrics", &limit);
    status = sonde_usage_file_open(path, (size_t)limit, &file);
    if (status == SONDE_OK) {
        status = sonde__processor_process_run(processor, sonde_usage_file_pending(file), run, NULL,
                                              &counted, NULL);
        if (status == SONDE_OK)
            status = sonde_usage_file_commit(file);
        sonde_usage_file_close(file);
    }
    sonde_processor_destroy(processor);
    sonde_attributes_destroy(table);
    return status;
}

void sonde__workflow_finished(const sonde_run *run, const char *settings_path, const char *dir)
{
    sonde_settings *settings;
    char *path;
    if (asprintf(&path, "%s/usage.metrics", dir) < 0)
        return;
    if (sonde_settings_load(settings_path, &settings, NULL) == SONDE_OK) {
        (void)count(settings, run, path);
        sonde_settings_free(settings);
    }
    free(path);
}
