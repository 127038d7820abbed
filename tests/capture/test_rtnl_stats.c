/* SPDX-License-Identifier: Apache-2.0 */
/* RTM_NEWSTATS messages as the kernel builds them, put together here byte by byte. */
#include "parser_test.h"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

enum { SEQUENCE = 7, STATS_MIN = 16 * 8, STATS_FULL = sizeof(struct rtnl_link_stats64) };

typedef struct datagram {
    char bytes[4096];
    size_t len;
} datagram;

static void put(datagram *out, const void *bytes, size_t len)
{
    assert_true(out->len + len <= sizeof out->bytes);
    memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
}

static void put_header(datagram *out, size_t body, uint16_t type, uint32_t sequence)
{
    struct nlmsghdr header = {.nlmsg_len = (uint32_t)(sizeof header + body),
                              .nlmsg_type = type,
                              .nlmsg_flags = NLM_F_MULTI,
                              .nlmsg_seq = sequence};
    put(out, &header, sizeof header);
}

static void put_attribute(datagram *out, uint16_t type, const void *bytes, size_t len)
{
    struct rtattr attribute = {.rta_len = (uint16_t)(sizeof attribute + len), .rta_type = type};
    put(out, &attribute, sizeof attribute);
    put(out, bytes, len);
}

/* Interface index with counters 100 * index + 1 ..., of which the kernel sends stats_len bytes. */
static void put_link(datagram *out, int index, uint32_t sequence, size_t stats_len)
{
    struct rtnl_link_stats64 stats = {0};
    uint64_t *counter = (uint64_t *)&stats;
    for (unsigned i = 0; i < sizeof stats / 8; i++)
        counter[i] = (uint64_t)index * 100 + i + 1;
    struct if_stats_msg message = {.ifindex = (uint32_t)index};
    put_header(out, sizeof message + sizeof(struct rtattr) + stats_len, RTM_NEWSTATS, sequence);
    put(out, &message, sizeof message);
    put_attribute(out, IFLA_STATS_LINK_64, &stats, stats_len);
}

static void put_done(datagram *out, uint32_t sequence)
{
    int32_t zero = 0;
    put_header(out, sizeof zero, NLMSG_DONE, sequence);
    put(out, &zero, sizeof zero);
}

/* Kernel order: rx_packets tx_packets rx_bytes tx_bytes rx_errors tx_errors rx_dropped tx_dropped,
   the 16th is rx_missed_errors. */
static void assert_link(const sonde__link_stats *stats, int index)
{
    const uint64_t base = (uint64_t)index * 100;
    const uint64_t expected[] = {base + 4, base + 3, base + 2,          base + 1,
                                 base + 5, base + 6, 2 * base + 7 + 16, base + 8};
    assert_int_equal(stats->index, index);
    assert_numbers(stats->counter, expected, SONDE__NET_COUNTERS);
}

/* Takes items until something else comes; each must be the interface after the one before. */
static sonde__link_step take_items(const datagram *in, size_t len, int first, size_t *items)
{
    char *copy = exact_copy(in->bytes, len);
    sonde__scan scan = sonde__scan_of(copy, len);
    sonde__link_stats stats;
    sonde__link_step step;
    *items = 0;
    while ((step = sonde__link_stats_next(&scan, SEQUENCE, &stats)) == SONDE__LINK_ITEM)
        assert_link(&stats, first + (int)(*items)++);
    assert_true(scan.at >= copy && scan.at <= copy + len);
    free(copy);
    return step;
}

static void assert_steps(const datagram *in, int first, size_t expected_items,
                         sonde__link_step expected)
{
    size_t items;
    assert_int_equal(take_items(in, in->len, first, &items), expected);
    assert_int_equal(items, expected_items);
}

static void reads_a_dump(void **state)
{
    (void)state;
    datagram dump = {.len = 0};
    put_link(&dump, 1, SEQUENCE, STATS_FULL);
    put_link(&dump, 2, SEQUENCE, STATS_FULL);
    assert_steps(&dump, 1, 2, SONDE__LINK_MORE);
    put_done(&dump, SEQUENCE);
    assert_steps(&dump, 1, 2, SONDE__LINK_DONE);
}

static void older_kernels_send_fewer_counters(void **state)
{
    (void)state;
    datagram dump = {.len = 0};
    put_link(&dump, 1, SEQUENCE, 23 * 8); /* Linux 4.7: without rx_nohandler */
    put_link(&dump, 2, SEQUENCE, STATS_MIN);
    put_done(&dump, SEQUENCE);
    assert_steps(&dump, 1, 2, SONDE__LINK_DONE);
}

static void newer_kernels_may_send_more_counters(void **state)
{
    (void)state;
    datagram dump = {.len = 0};
    uint64_t counter[40];
    for (unsigned i = 0; i < 40; i++)
        counter[i] = 300 + i + 1;
    struct if_stats_msg message = {.ifindex = 3};
    put_header(&dump, sizeof message + sizeof(struct rtattr) + sizeof counter, RTM_NEWSTATS,
               SEQUENCE);
    put(&dump, &message, sizeof message);
    put_attribute(&dump, IFLA_STATS_LINK_64, counter, sizeof counter);
    assert_steps(&dump, 3, 1, SONDE__LINK_MORE);
}

/* Cause: missing counters were taken for 0. */
static void too_few_counters_are_bad(void **state)
{
    (void)state;
    for (size_t len = 0; len < STATS_MIN; len += 8) {
        datagram dump = {.len = 0};
        put_link(&dump, 1, SEQUENCE, len);
        assert_steps(&dump, 1, 0, SONDE__LINK_BAD);
    }
}

static void other_attributes_are_passed_over(void **state)
{
    (void)state;
    datagram inner = {.len = 0}, dump = {.len = 0};
    put_link(&inner, 4, SEQUENCE, STATS_FULL);
    const size_t head = sizeof(struct nlmsghdr) + sizeof(struct if_stats_msg);
    const char extra[8] = {0};
    put_header(&dump, inner.len + 12 - sizeof(struct nlmsghdr), RTM_NEWSTATS, SEQUENCE);
    put(&dump, inner.bytes + sizeof(struct nlmsghdr), sizeof(struct if_stats_msg));
    put_attribute(&dump, IFLA_STATS_LINK_XSTATS, extra, sizeof extra);
    put(&dump, inner.bytes + head, inner.len - head);
    assert_steps(&dump, 4, 1, SONDE__LINK_MORE);
}

/* Cause: an interface without readable counters was left out of the sum without a word. */
static void message_without_counters_is_bad(void **state)
{
    (void)state;
    struct if_stats_msg message = {.ifindex = 1};
    datagram none = {.len = 0}, wrong = {.len = 0};
    put_header(&none, sizeof message, RTM_NEWSTATS, SEQUENCE);
    put(&none, &message, sizeof message);
    assert_steps(&none, 1, 0, SONDE__LINK_BAD);
    put_header(&wrong, sizeof message + 8, RTM_NEWSTATS, SEQUENCE);
    put(&wrong, &message, sizeof message);
    put_attribute(&wrong, IFLA_STATS_LINK_XSTATS, "abcd", 4);
    assert_steps(&wrong, 1, 0, SONDE__LINK_BAD);
}

static void rest_of_an_earlier_dump_is_passed_over(void **state)
{
    (void)state;
    datagram dump = {.len = 0};
    put_link(&dump, 9, SEQUENCE - 1, STATS_FULL);
    put_done(&dump, SEQUENCE - 1);
    put_link(&dump, 1, SEQUENCE, STATS_FULL);
    assert_steps(&dump, 1, 1, SONDE__LINK_MORE);
}

static void errors_are_bad(void **state)
{
    (void)state;
    struct nlmsgerr error = {.error = -95};
    datagram dump = {.len = 0};
    put_header(&dump, sizeof error, NLMSG_ERROR, SEQUENCE);
    put(&dump, &error, sizeof error);
    assert_steps(&dump, 1, 0, SONDE__LINK_BAD);
}

static void wrong_lengths_are_bad(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, 15, 17, 27, 1000000, UINT32_MAX};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        datagram dump = {.len = 0};
        put_link(&dump, 1, SEQUENCE, STATS_FULL);
        memcpy(dump.bytes, &lengths[i], sizeof lengths[i]);
        assert_steps(&dump, 1, 0, SONDE__LINK_BAD);
    }
}

static void wrong_attribute_lengths_are_bad(void **state)
{
    (void)state;
    static const uint16_t lengths[] = {0, 1, 3, 4, 5, 131, 60000, UINT16_MAX};
    const size_t at = sizeof(struct nlmsghdr) + sizeof(struct if_stats_msg);
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        datagram dump = {.len = 0};
        put_link(&dump, 1, SEQUENCE, STATS_FULL);
        memcpy(dump.bytes + at, &lengths[i], sizeof lengths[i]);
        assert_steps(&dump, 1, 0, SONDE__LINK_BAD);
    }
}

/* Counters come out whole or not at all; a cut message is told. */
static void cut_datagram_gives_no_wrong_counter(void **state)
{
    (void)state;
    datagram dump = {.len = 0};
    put_link(&dump, 1, SEQUENCE, STATS_FULL);
    size_t first = dump.len;
    put_link(&dump, 2, SEQUENCE, STATS_FULL);
    size_t both = dump.len;
    put_done(&dump, SEQUENCE);
    for (size_t cut = 0; cut < dump.len; cut++) {
        size_t items;
        sonde__link_step step = take_items(&dump, cut, 1, &items);
        bool between = cut == 0 || cut == first || cut == both;
        assert_int_equal(step, between ? SONDE__LINK_MORE : SONDE__LINK_BAD);
        assert_int_equal(items, cut < first ? 0 : cut < both ? 1 : 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_dump),
        cmocka_unit_test(older_kernels_send_fewer_counters),
        cmocka_unit_test(newer_kernels_may_send_more_counters),
        cmocka_unit_test(too_few_counters_are_bad),
        cmocka_unit_test(other_attributes_are_passed_over),
        cmocka_unit_test(message_without_counters_is_bad),
        cmocka_unit_test(rest_of_an_earlier_dump_is_passed_over),
        cmocka_unit_test(errors_are_bad),
        cmocka_unit_test(wrong_lengths_are_bad),
        cmocka_unit_test(wrong_attribute_lengths_are_bad),
        cmocka_unit_test(cut_datagram_gives_no_wrong_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
