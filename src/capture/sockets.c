/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP socket is in /proc/net/tcp unless its state is CLOSE; a UDP socket is in /proc/net/udp once
   it has a port. sock_diag walks all sockets of the machine (0.3 ms and up): only for another
   process whose descriptors may be listed but not taken over. */
#include "capture/sockets.h"

#include "base/errno_status.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The states of /proc/net/tcp. Beyond TCP_CLOSING stand SYN_RECV of half-open connections, which
   have no socket yet, and, since Linux 6.8, sockets that are bound and nothing more. */
#define TCP_STATES_LISTED (((1u << (TCP_CLOSING + 1)) - 1) & ~(1u << TCP_CLOSE))

static bool get_option(int fd, int option, int *value)
{
    socklen_t len = sizeof *value;
    return getsockopt(fd, SOL_SOCKET, option, value, &len) == 0;
}

static bool tcp_is_listed(int fd)
{
    unsigned char state = 0; /* the first byte of struct tcp_info */
    socklen_t len = sizeof state;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &state, &len) == 0 && state != TCP_CLOSE;
}

static bool udp_is_listed(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {0};
    socklen_t len = sizeof address;
    /* the port stands at the same place in both */
    return getsockname(fd, &address.any, &len) == 0 && address.v4.sin_port != 0;
}

bool sonde__socket_is_connection(int fd)
{
    int domain, protocol;
    if (!get_option(fd, SO_DOMAIN, &domain) || (domain != AF_INET && domain != AF_INET6) ||
        !get_option(fd, SO_PROTOCOL, &protocol))
        return false;
    return protocol == IPPROTO_TCP ? tcp_is_listed(fd)
                                   : protocol == IPPROTO_UDP && udp_is_listed(fd);
}

static int compare_inodes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Counts matches in one datagram of a dump; *done at its end. */
static sonde_status count_part(const char *at, size_t len, const uint64_t *inodes, size_t count,
                               uint64_t *found, bool *done)
{
    while (len >= sizeof(struct nlmsghdr)) {
        struct nlmsghdr header;
        memcpy(&header, at, sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > len)
            return SONDE_EBADDATA;
        if (header.nlmsg_type == NLMSG_DONE) {
            *done = true;
            return SONDE_OK;
        }
        if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
            return SONDE_EUNSUPPORTED;
        struct inet_diag_msg message;
        if (header.nlmsg_len < sizeof header + sizeof message)
            return SONDE_EBADDATA;
        memcpy(&message, at + sizeof header, sizeof message);
        uint64_t inode = message.idiag_inode;
        if (bsearch(&inode, inodes, count, sizeof inode, compare_inodes))
            (*found)++;
        size_t step = NLMSG_ALIGN((size_t)header.nlmsg_len);
        if (step >= len)
            return SONDE_OK;
        at += step;
        len -= step;
    }
    return SONDE_OK;
}

static sonde_status count_kind(int fd, unsigned char family, unsigned char protocol,
                               const uint64_t *inodes, size_t count, uint64_t *found)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } ask = {.header = {.nlmsg_len = sizeof ask,
                        .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
             .request = {.sdiag_family = family,
                         .sdiag_protocol = protocol,
                         .idiag_states = TCP_STATES_LISTED}};
    if (protocol == IPPROTO_UDP)
        ask.request.idiag_states = UINT32_MAX;
    if (send(fd, &ask, sizeof ask, MSG_NOSIGNAL) < 0)
        return sonde__status_of_errno(errno);
    static const size_t part_bytes = 32768;
    char *part = malloc(part_bytes);
    sonde_status status = part ? SONDE_OK : SONDE_ENOMEM;
    bool done = false;
    while (status == SONDE_OK && !done) {
        ssize_t got = recv(fd, part, part_bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        status = got < 0 ? sonde__status_of_errno(errno)
                         : count_part(part, (size_t)got, inodes, count, found, &done);
    }
    free(part);
    return status;
}

sonde_status sonde__sock_diag_count(const uint64_t *inodes, size_t count, uint64_t *out)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return sonde__status_of_errno(errno);
    static const unsigned char kinds[4][2] = {{AF_INET, IPPROTO_TCP},
                                              {AF_INET6, IPPROTO_TCP},
                                              {AF_INET, IPPROTO_UDP},
                                              {AF_INET6, IPPROTO_UDP}};
    uint64_t found = 0;
    sonde_status status = SONDE_OK;
    for (unsigned i = 0; i < 4 && status == SONDE_OK; i++)
        status = count_kind(fd, kinds[i][0], kinds[i][1], inodes, count, &found);
    close(fd);
    if (status == SONDE_OK)
        *out = found;
    return status;
}
