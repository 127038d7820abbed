/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the description of a machine, one file each. Every part writes one key and its value
   into an open object. */
#ifndef SONDE_CAPTURE_MACHINE_PART_H
#define SONDE_CAPTURE_MACHINE_PART_H

#include "base/json_write.h"
#include "capture/source.h"
#include "sonde/machine.h"

/* "cpu": py-cpuinfo's keys. */
void sonde__machine_write_cpu(sonde__json *json, sonde__host *host);

/* "network": addresses of each interface, psutil's net_if_addrs. Fails without writing anything. */
sonde_status sonde__machine_write_network(sonde__json *json);

/* "environment": values as the option says, masked; null for a variable whose value is not told. */
void sonde__machine_write_environment(sonde__json *json, const char *const *variables,
                                      sonde_environment which);

/* "job": rank and job; nothing outside one. */
void sonde__machine_write_job(sonde__json *json, const char *const *variables);

/* The value of a variable in a list as environ is one; NULL: it is not set. */
const char *sonde__environment_get(const char *const *variables, const char *name);

/* Whether the value of a variable is told by the list. */
bool sonde__environment_lists(const char *name, size_t len);

/* /proc/cpuinfo, the first processor of it; texts are within it. */
typedef struct sonde__cpu_text {
    const char *text;
    size_t len;
} sonde__cpu_text;

typedef struct sonde__cpu_details {
    sonde__cpu_text vendor, brand, flags, hardware;
    long family, model, stepping;              /* -1: not known */
    long implementer, part, variant, revision; /* of ARM; -1 */
    double mhz;                                /* 0: not known */
    unsigned processors;
} sonde__cpu_details;
void sonde__parse_cpu_details(const char *text, size_t len, sonde__cpu_details *out);

#endif
