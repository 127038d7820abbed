/* SPDX-License-Identifier: Apache-2.0 */
/* The tracepoint that LTTng-UST is measured with: two integers, as a task's begin and end. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER sonde_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_peer.h"

#if !defined(SONDE_LTTNG_PEER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SONDE_LTTNG_PEER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(sonde_bench, event,
                           LTTNG_UST_TP_ARGS(unsigned long, id, unsigned long, value),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned long, id, id)
                                                   lttng_ust_field_integer(unsigned long, value,
                                                                           value)))

#endif

#include <lttng/tracepoint-event.h>
