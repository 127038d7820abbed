/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_VIEW_OTLP_METRIC_H
#define SONDE_VIEW_OTLP_METRIC_H

/* The UCUM unit of a metric by the end of its name: "s", "By", ...; "" when it does not tell. */
const char *sonde__otlp_unit(const char *name);

#endif
