/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/connections.h"

#include <string.h>

static const size_t places = sizeof((sonde__connections *)0)->list / sizeof(sonde__connection);
static const uint64_t ms = 1000000;

void sonde__connections_init(sonde__connections *all, size_t most, void (*close)(int fd))
{
    memset(all, 0, sizeof *all);
    all->most = most < SONDE__SERVE_CONNECTIONS ? most : SONDE__SERVE_CONNECTIONS;
    all->close = close;
}

static bool is_active(const sonde__connection *one)
{
    return one->phase != SONDE__PHASE_FREE && one->phase != SONDE__PHASE_CLOSING;
}

void sonde__connections_drop(sonde__connections *all, sonde__connection *one)
{
    if (!is_active(one))
        return;
    one->phase = SONDE__PHASE_CLOSING;
    all->used--;
    all->close(one->fd);
}

static bool is_better(const sonde__connection *one, const sonde__connection *best, uint64_t now_ns)
{
    if (!best)
        return true;
    uint64_t senior = SONDE__SERVE_SENIOR_MS * ms;
    bool slow = one->phase == SONDE__PHASE_HEADER && now_ns - one->since_ns > senior;
    bool best_slow = best->phase == SONDE__PHASE_HEADER && now_ns - best->since_ns > senior;
    return slow != best_slow ? slow : one->since_ns < best->since_ns;
}

/* Streams have a limit of their own and are kept. */
static sonde__connection *who_goes(sonde__connections *all, uint64_t now_ns)
{
    sonde__connection *best = NULL;
    for (size_t i = 0; i < all->top; i++) {
        sonde__connection *one = &all->list[i];
        if (is_active(one) && one->phase != SONDE__PHASE_STREAM && is_better(one, best, now_ns))
            best = one;
    }
    return best;
}

static size_t count_of(const sonde__connections *all, const struct sockaddr *peer)
{
    size_t count = 0;
    for (size_t i = 0; i < all->top; i++)
        count += is_active(&all->list[i]) &&
                 sonde__address_same((const struct sockaddr *)&all->list[i].peer, peer);
    return count;
}

static sonde__connection *free_place(sonde__connections *all)
{
    for (size_t i = 0; i < places; i++)
        if (all->list[i].phase == SONDE__PHASE_FREE)
            return &all->list[i];
    return NULL;
}

sonde__connection *sonde__connections_add(sonde__connections *all, int fd,
                                          const struct sockaddr *peer, socklen_t len,
                                          uint64_t now_ns)
{
    sonde__connection *place = free_place(all);
    bool crowd = !sonde__address_is_local(peer) && count_of(all, peer) >= SONDE__SERVE_PER_ADDRESS;
    sonde__connection *leaves =
        place && !crowd && all->used >= all->most ? who_goes(all, now_ns) : NULL;
    if (!place || crowd || (all->used >= all->most && !leaves)) {
        all->refused++;
        return NULL;
    }
    if (leaves) {
        all->evicted++;
        sonde__connections_drop(all, leaves);
    }
    *place = (sonde__connection){.phase = SONDE__PHASE_HEADER, .fd = fd, .since_ns = now_ns};
    if ((size_t)(place - all->list) >= all->top)
        all->top = (size_t)(place - all->list) + 1;
    memcpy(&place->peer, peer, len < sizeof place->peer ? len : sizeof place->peer);
    all->used++;
    all->accepted++;
    return place;
}

void sonde__connections_phase(sonde__connections *all, sonde__connection *one, sonde__phase phase,
                              uint64_t now_ns)
{
    (void)all;
    if (!is_active(one))
        return;
    one->phase = phase;
    one->since_ns = now_ns;
}

void sonde__connections_remove(sonde__connections *all, sonde__connection *one)
{
    if (is_active(one))
        all->used--;
    one->phase = SONDE__PHASE_FREE;
    while (all->top > 0 && all->list[all->top - 1].phase == SONDE__PHASE_FREE)
        all->top--;
}

static uint64_t limit_of(sonde__phase phase)
{
    switch (phase) {
    case SONDE__PHASE_HEADER:
        return SONDE__SERVE_HEADER_MS * ms;
    case SONDE__PHASE_IDLE:
        return SONDE__SERVE_IDLE_MS * ms;
    default:
        return SONDE__SERVE_ANSWER_MS * ms;
    }
}

uint64_t sonde__connections_expire(sonde__connections *all, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < all->top; i++) {
        sonde__connection *one = &all->list[i];
        if (!is_active(one))
            continue;
        uint64_t end = one->since_ns + limit_of(one->phase);
        if (end <= now_ns) {
            all->expired++;
            sonde__connections_drop(all, one);
        } else if (end - now_ns < next) {
            next = end - now_ns;
        }
    }
    return next;
}

size_t sonde__connections_count(const sonde__connections *all, sonde__phase phase)
{
    size_t count = 0;
    for (size_t i = 0; i < all->top; i++)
        count += all->list[i].phase == phase;
    return count;
}
