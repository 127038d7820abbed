/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of each interface as psutil.net_if_addrs has them: per interface a list by family,
   numbers of families as they are (2 IPv4, 10 IPv6, 17 link), null for what an address has not. */
#include "base/errno_status.h"
#include "capture/machine_part.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

static const int families[] = {AF_INET, AF_INET6, AF_PACKET};

static bool format_address(const struct sockaddr *address, char out[NI_MAXHOST])
{
    if (!address)
        return false;
    if (address->sa_family == AF_PACKET) {
        const struct sockaddr_ll *link = (const void *)address;
        size_t used = 0;
        for (unsigned i = 0; i < link->sll_halen && i < sizeof link->sll_addr; i++)
            used += (size_t)snprintf(out + used, NI_MAXHOST - used, "%s%02x", i ? ":" : "",
                                     link->sll_addr[i]);
        return link->sll_halen > 0;
    }
    socklen_t len =
        address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    return getnameinfo(address, len, out, NI_MAXHOST, NULL, 0, NI_NUMERICHOST) == 0;
}

static void write_text(sonde__json *json, const char *key, const struct sockaddr *address)
{
    char text[NI_MAXHOST];
    sonde__json_key(json, key);
    if (format_address(address, text))
        sonde__json_string(json, text);
    else
        sonde__json_null(json);
}

static void write_address(sonde__json *json, const struct ifaddrs *item)
{
    bool broadcast = (item->ifa_flags & IFF_BROADCAST) != 0;
    bool point = (item->ifa_flags & IFF_POINTOPOINT) != 0;
    sonde__json_begin_object(json);
    sonde__json_key(json, "family");
    sonde__json_int(json, item->ifa_addr->sa_family);
    write_text(json, "address", item->ifa_addr);
    write_text(json, "netmask", item->ifa_netmask);
    write_text(json, "broadcast", broadcast ? item->ifa_broadaddr : NULL);
    write_text(json, "ptp", point && !broadcast ? item->ifa_dstaddr : NULL);
    sonde__json_end_object(json);
}

/* All addresses of the interface that item is the first of. */
static void write_interface(sonde__json *json, const struct ifaddrs *all, const char *name)
{
    sonde__json_key(json, name);
    sonde__json_begin_array(json);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct ifaddrs *item = all; item; item = item->ifa_next)
            if (item->ifa_addr && item->ifa_addr->sa_family == families[i] &&
                strcmp(item->ifa_name, name) == 0)
                write_address(json, item);
    sonde__json_end_array(json);
}

static bool is_first(const struct ifaddrs *all, const struct ifaddrs *item)
{
    for (; all != item; all = all->ifa_next)
        if (strcmp(all->ifa_name, item->ifa_name) == 0)
            return false;
    return true;
}

sonde_status sonde__machine_write_network(sonde__json *json)
{
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return sonde__status_of_errno(errno);
    sonde__json_key(json, "network");
    sonde__json_begin_object(json);
    for (const struct ifaddrs *item = all; item; item = item->ifa_next)
        if (is_first(all, item))
            write_interface(json, all, item->ifa_name);
    sonde__json_end_object(json);
    freeifaddrs(all);
    return SONDE_OK;
}
