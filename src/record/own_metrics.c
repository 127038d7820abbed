/* SPDX-License-Identifier: Apache-2.0 */
#include "record/own_metrics.h"

#include <string.h>

static const struct {
    const char *name;
    const char *help;
} own[SONDE__OWN_COUNT] = {
#define OWN_METRIC(id, metric_name, text) [SONDE__OWN_##id] = {metric_name, text},
    SONDE__OWN_METRIC_MAP(OWN_METRIC)
#undef OWN_METRIC
};

const char *sonde__own_name(sonde__own_metric metric)
{
    return own[metric].name;
}

const char *sonde__own_help(sonde__own_metric metric)
{
    return own[metric].help;
}

const char *sonde__own_help_of(const char *name)
{
    for (int i = 0; i < SONDE__OWN_COUNT; i++)
        if (strcmp(own[i].name, name) == 0)
            return own[i].help;
    return "";
}
