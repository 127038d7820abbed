/* SPDX-License-Identifier: Apache-2.0 */
/* Which sockets count as connections: TCP and UDP over IPv4 and IPv6 that the kernel lists in
   /proc/net/{tcp,udp}{,6}, found without reading those files (10 ms on large machines). */
#ifndef SONDE_CAPTURE_SOCKETS_H
#define SONDE_CAPTURE_SOCKETS_H

#include "sonde/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the socket behind a descriptor of this process is one. */
bool sonde__socket_is_connection(int fd);

/* How many of the sockets with these inodes (sorted) are, by sock_diag in this network namespace.
 */
sonde_status sonde__sock_diag_count(const uint64_t *inodes, size_t count, uint64_t *out);

#endif
