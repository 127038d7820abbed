/* SPDX-License-Identifier: Apache-2.0 */
/* Network counters by rtnetlink, RTM_GETSTATS with IFLA_STATS_LINK_64 (Linux 4.7): binary, and
   cheaper than /proc/net/dev. Messages carry only the interface's number; its name is asked for
   once and again at each recheck. "dropin" counts what the driver missed too, as /proc/net/dev
   does. */
#include "base/errno_status.h"
#include "capture/net_rows.h"
#include "capture/parsers.h"
#include "capture/source.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
    DATAGRAM_BYTES = 32768, /* the kernel never sends more in one part of a dump */
    COUNTERS_NEEDED_BYTES = offsetof(struct rtnl_link_stats64, rx_missed_errors) + 8,
};

typedef struct link_name {
    int index;
    bool fresh; /* asked for since the last recheck */
    char name[SONDE__NET_NAME_BYTES];
} link_name;

typedef struct rtnl_state {
    sonde__kernel_file socket; /* kept as a file for its identity check */
    uint32_t sequence;
    link_name **link; /* each in memory of its own: rows point to the names */
    size_t links;
    size_t cap;
} rtnl_state;

/* Finds IFLA_STATS_LINK_64 among the attributes and puts its counters in psutil's order. */
static bool take_link_stats(const char *at, size_t len, uint64_t *counter)
{
    while (len >= sizeof(struct rtattr)) {
        struct rtattr attribute;
        memcpy(&attribute, at, sizeof attribute);
        if (attribute.rta_len < sizeof attribute || attribute.rta_len > len)
            return false;
        if (attribute.rta_type == IFLA_STATS_LINK_64) {
            struct rtnl_link_stats64 stats = {0};
            size_t have = attribute.rta_len - sizeof attribute;
            if (have < COUNTERS_NEEDED_BYTES)
                return false;
            memcpy(&stats, at + sizeof attribute, have < sizeof stats ? have : sizeof stats);
            const uint64_t ordered[SONDE__NET_COUNTERS] = {stats.tx_bytes,
                                                           stats.rx_bytes,
                                                           stats.tx_packets,
                                                           stats.rx_packets,
                                                           stats.rx_errors,
                                                           stats.tx_errors,
                                                           stats.rx_dropped +
                                                               stats.rx_missed_errors,
                                                           stats.tx_dropped};
            memcpy(counter, ordered, sizeof ordered);
            return true;
        }
        size_t step = RTA_ALIGN((size_t)attribute.rta_len);
        if (step >= len)
            return false;
        at += step;
        len -= step;
    }
    return false;
}

sonde__link_step sonde__link_stats_next(sonde__scan *scan, uint32_t sequence,
                                        sonde__link_stats *out)
{
    while (scan->at < scan->end) {
        size_t left = (size_t)(scan->end - scan->at);
        struct nlmsghdr header;
        if (left < sizeof header)
            return SONDE__LINK_BAD;
        memcpy(&header, scan->at, sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > left)
            return SONDE__LINK_BAD;
        const char *body = scan->at + sizeof header;
        size_t body_len = header.nlmsg_len - sizeof header;
        size_t step = NLMSG_ALIGN((size_t)header.nlmsg_len);
        scan->at += step < left ? step : left;
        if (header.nlmsg_seq != sequence)
            continue; /* the rest of a dump that was given up */
        if (header.nlmsg_type == NLMSG_DONE)
            return SONDE__LINK_DONE;
        struct if_stats_msg message;
        if (header.nlmsg_type != RTM_NEWSTATS || body_len < sizeof message)
            return SONDE__LINK_BAD;
        memcpy(&message, body, sizeof message);
        out->index = (int)message.ifindex;
        bool known =
            take_link_stats(body + sizeof message, body_len - sizeof message, out->counter);
        return known ? SONDE__LINK_ITEM : SONDE__LINK_BAD;
    }
    return SONDE__LINK_MORE;
}

static bool ask_name(const rtnl_state *state, link_name *link)
{
    struct ifreq request = {.ifr_ifindex = link->index};
    if (ioctl(state->socket.fd, SIOCGIFNAME, &request) != 0)
        return false;
    memcpy(link->name, request.ifr_name, sizeof link->name);
    link->name[sizeof link->name - 1] = '\0';
    link->fresh = true;
    return true;
}

static link_name *add_link(rtnl_state *state)
{
    if (state->links == state->cap) {
        size_t cap = state->cap ? state->cap * 2 : 16;
        link_name **grown = realloc(state->link, cap * sizeof(link_name *));
        if (!grown)
            return NULL;
        state->link = grown;
        state->cap = cap;
    }
    link_name *link = calloc(1, sizeof *link);
    if (link)
        state->link[state->links++] = link;
    return link;
}

/* The remembered link at position, for the interface index; interfaces come in the same order as
   long as none appears or goes. NULL when it cannot be named (it just went) or memory is short. */
static const link_name *find_link(rtnl_state *state, size_t position, int index,
                                  sonde_status *status)
{
    link_name *link = position < state->links ? state->link[position] : add_link(state);
    if (!link)
        *status = SONDE_ENOMEM;
    if (!link || (link->index == index && link->fresh))
        return link;
    link->index = index;
    link->fresh = false;
    return ask_name(state, link) ? link : NULL;
}

static sonde_status request_dump(rtnl_state *state)
{
    struct {
        struct nlmsghdr header;
        struct if_stats_msg message;
    } request = {.header = {.nlmsg_len = sizeof request,
                            .nlmsg_type = RTM_GETSTATS,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                            .nlmsg_seq = ++state->sequence},
                 .message = {.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)}};
    if (send(state->socket.fd, &request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return sonde__status_of_errno(errno);
    return SONDE_OK;
}

static sonde_status receive_part(const rtnl_state *state, sonde__buf *buf)
{
    sonde__buf_clear(buf);
    if (!sonde__buf_reserve(buf, DATAGRAM_BYTES))
        return buf->status;
    ssize_t got;
    do
        got = recv(state->socket.fd, buf->data, buf->cap, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return sonde__status_of_errno(errno);
    buf->len = (size_t)got;
    return SONDE_OK;
}

/* One received part: adds its interfaces to the sum and, at level full, to the rows. */
static sonde__link_step take_part(sonde__host *host, rtnl_state *state, sonde__rows *rows,
                                  sonde__net_sum *sum, sonde_status *rows_status)
{
    sonde__scan scan = sonde__scan_of(host->text.data, host->text.len);
    sonde__link_stats stats;
    sonde__link_step step;
    while ((step = sonde__link_stats_next(&scan, state->sequence, &stats)) == SONDE__LINK_ITEM) {
        size_t position = sum->interfaces;
        sonde__net_sum_add(sum, stats.counter);
        if (!rows || host->level != SONDE_LEVEL_FULL || *rows_status != SONDE_OK)
            continue;
        const link_name *link = find_link(state, position, stats.index, rows_status);
        if (link && sonde__net_is_used(stats.counter))
            *rows_status = sonde__net_row_add(rows, link->name, stats.counter, SONDE_OK);
    }
    return step;
}

/* Asks for the counters of every interface and takes all parts of the answer. */
static sonde_status dump_links(sonde__host *host, rtnl_state *state, sonde__rows *rows,
                               sonde__net_sum *sum, sonde_status *rows_status)
{
    sonde__link_step step = SONDE__LINK_MORE;
    sonde_status status = request_dump(state);
    while (status == SONDE_OK && step == SONDE__LINK_MORE) {
        status = receive_part(state, &host->text);
        if (status == SONDE_OK)
            step = take_part(host, state, rows, sum, rows_status);
    }
    return status == SONDE_OK && step == SONDE__LINK_BAD ? SONDE_EBADDATA : status;
}

static sonde_status rtnl_read(sonde__host *host, void *opaque, sonde_telemetry *out)
{
    rtnl_state *state = opaque;
    if (!sonde__kernel_file_is_ours(&state->socket))
        return SONDE_EIO; /* the host closed it; writing to whatever has its number now would harm
                           */
    for (size_t i = 0; host->recheck && i < state->links; i++)
        state->link[i]->fresh = false;
    sonde__net_sum sum = {0};
    sonde__rows *rows = &out->table[SONDE_TABLE_INTERFACES];
    sonde_status rows_status = SONDE_OK;
    sonde_status status = dump_links(host, state, rows, &sum, &rows_status);
    if (host->level == SONDE_LEVEL_FULL)
        rows->status = status == SONDE_OK ? rows_status : status;
    if (status != SONDE_OK)
        return status;
    sonde__net_sum_store(&sum, out);
    return rows_status;
}

static void rtnl_close(void *opaque)
{
    rtnl_state *state = opaque;
    sonde__kernel_file_close(&state->socket);
    for (size_t i = 0; i < state->links; i++)
        free(state->link[i]);
    free(state->link);
}

/* Opens the socket and tries a dump, so that a kernel or a sandbox without it falls back at once.
 */
static sonde_status rtnl_open(sonde__host *host, void *opaque)
{
    rtnl_state *state = opaque;
    state->socket.fd = -1;
    if (!host->live)
        return SONDE_EUNSUPPORTED;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0)
        return sonde__status_of_errno(errno);
    sonde__net_sum ignored = {0};
    sonde_status rows_ignored = SONDE_OK;
    sonde_status status = sonde__kernel_file_adopt(&state->socket, fd);
    if (status == SONDE_OK)
        status = dump_links(host, state, NULL, &ignored, &rows_ignored);
    if (status != SONDE_OK)
        rtnl_close(state);
    return status;
}

extern const sonde__source sonde__source_proc_net_dev;

const sonde__source sonde__source_rtnl_stats = {
    .name = "rtnl_stats",
    .summary = "network counters, in all and per interface",
    .types = SONDE_CAPTURE_NETWORK,
    .levels = SONDE__AT_REGULAR | SONDE__AT_FULL,
    .fields = {{SONDE_FIELD_NETWORK_BYTES_SENT, SONDE_FIELD_NETWORK_DROPOUT}},
    .fallback = &sonde__source_proc_net_dev,
    .state_bytes = sizeof(rtnl_state),
    .open = rtnl_open,
    .read = rtnl_read,
    .close = rtnl_close,
};
