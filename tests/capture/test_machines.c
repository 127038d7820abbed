/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded machines (tests/fixtures): what must come out of their files, worked out by hand. */
#include "capture_test.h"

typedef struct expected_uint {
    sonde_field field;
    uint64_t value;
} expected_uint;

static void assert_uints(const sonde_telemetry *now, const expected_uint *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_uint(now, expected[i].field, expected[i].value);
}

#define ASSERT_UINTS(now, ...)                             \
    do {                                                   \
        const expected_uint expected_[] = {__VA_ARGS__};   \
        assert_uints(now, expected_, COUNT_OF(expected_)); \
    } while (0)

#define F(name) SONDE_FIELD_##name

/* Ten times of the total, in ticks. */
static void assert_cpu_times(const sonde_telemetry *now, const uint64_t *expected)
{
    for (unsigned i = 0; i < 10; i++)
        assert_double(now, (sonde_field)(F(CPU_USER) + i), ticks(expected[i]));
}

/* The nine counters of a disk made from one number: see nvme_dm_md. */
static void assert_disk_row(const sonde_telemetry *now, size_t row, uint64_t n)
{
    const uint64_t expected[] = {n * 10, n * 20, n * 100 * 512, n * 200 * 512, n * 3,
                                 n * 4,  n,      n * 2,         n * 5};
    for (unsigned i = 0; i < 9; i++)
        assert_row_uint(now, SONDE_TABLE_DISKS, row, (sonde_field)(F(DISK_READ_COUNT) + i),
                        expected[i]);
}

/* What the machines that are about one file share, so that nothing else is lost with it. */
static void assert_common_memory(const sonde_telemetry *now)
{
    ASSERT_UINTS(now, {F(MEMORY_TOTAL), KIB(8000000)}, {F(MEMORY_AVAILABLE), KIB(6000000)},
                 {F(MEMORY_USED), KIB(8000000 - 2000000 - 3150000 - 100000)},
                 {F(MEMORY_FREE), KIB(2000000)}, {F(MEMORY_ACTIVE), KIB(2500000)},
                 {F(MEMORY_INACTIVE), KIB(1500000)}, {F(MEMORY_BUFFERS), KIB(100000)},
                 {F(MEMORY_CACHED), KIB(3150000)}, {F(MEMORY_SHARED), KIB(200000)},
                 {F(MEMORY_SLAB), KIB(250000)});
    assert_double(now, F(MEMORY_PERCENT), 25.0);
}

static void assert_common_swap(const sonde_telemetry *now)
{
    ASSERT_UINTS(now, {F(SWAP_TOTAL), KIB(4000000)}, {F(SWAP_USED), KIB(1000000)},
                 {F(SWAP_FREE), KIB(3000000)}, {F(SWAP_IN), pages(11)}, {F(SWAP_OUT), pages(22)});
    assert_double(now, F(SWAP_PERCENT), 25.0);
}

static void assert_common_disk(const sonde_telemetry *now)
{
    static const char *const names[] = {"sda", "sda1"};
    ASSERT_UINTS(now, {F(DISK_READ_COUNT), 100}, {F(DISK_WRITE_COUNT), 200},
                 {F(DISK_READ_BYTES), 2000 * 512}, {F(DISK_WRITE_BYTES), 4000 * 512},
                 {F(DISK_READ_TIME), 30}, {F(DISK_WRITE_TIME), 60}, {F(DISK_READ_MERGED), 10},
                 {F(DISK_WRITE_MERGED), 20}, {F(DISK_BUSY_TIME), 70});
    assert_row_names(now, SONDE_TABLE_DISKS, names, 2);
    assert_row_uint(now, SONDE_TABLE_DISKS, 1, F(DISK_READ_COUNT), 90);
}

static void assert_common_network(const sonde_telemetry *now)
{
    static const char *const names[] = {"lo", "eth0"};
    ASSERT_UINTS(now, {F(NETWORK_BYTES_SENT), 6100}, {F(NETWORK_BYTES_RECV), 5100},
                 {F(NETWORK_PACKETS_SENT), 61}, {F(NETWORK_PACKETS_RECV), 51},
                 {F(NETWORK_ERRIN), 1}, {F(NETWORK_ERROUT), 3}, {F(NETWORK_DROPIN), 2},
                 {F(NETWORK_DROPOUT), 4});
    assert_row_names(now, SONDE_TABLE_INTERFACES, names, 2);
    assert_row_uint(now, SONDE_TABLE_INTERFACES, 1, F(NETWORK_BYTES_SENT), 6000);
}

static void assert_common_cpu(const sonde_telemetry *now)
{
    const uint64_t total[10] = {2000, 20, 400, 16000, 80, 0, 40};
    static const char *const names[] = {"0", "1"};
    assert_cpu_times(now, total);
    assert_row_names(now, SONDE_TABLE_CPUS, names, 2);
    assert_row_double(now, 1, F(CPU_USER), ticks(800));
}

static void machine_with_256_cpus(void **state)
{
    (void)state;
    sonde_capture *capture = open_root(FIXTURES "cpus256");
    const sonde_telemetry *now = read_now(capture);
    const uint64_t sum = 255 * 256 / 2; /* of the numbers 0 to 255 */
    const uint64_t total[10] = {256000 + sum, sum, 512000 + sum, 128000000 + 10 * sum,
                                1280,         0,   512};
    assert_cpu_times(now, total);
    assert_double(now, F(CPU_FREQUENCY), 2000 + (double)sum / 256);
    assert_int_equal(sonde_telemetry_rows(now, SONDE_TABLE_CPUS), 256);
    for (unsigned i = 0; i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "%u", i);
        assert_string_equal(sonde_telemetry_row_name(now, SONDE_TABLE_CPUS, i), name);
        assert_row_double(now, i, F(CPU_SYSTEM), ticks(2000 + i));
        assert_row_double(now, i, F(CPU_IDLE), ticks(500000 + 10 * i));
    }
    assert_common_memory(now);
    assert_common_disk(now);
    sonde_capture_close(capture);
}

static void aarch64_takes_its_frequency_from_policies(void **state)
{
    (void)state;
    sonde_capture *capture = open_root(FIXTURES "aarch64");
    const sonde_telemetry *now = read_now(capture);
    assert_double(now, F(CPU_FREQUENCY), (1800.0 + 2400.5) / 2);
    assert_common_cpu(now);
    assert_common_swap(now);
    sonde_capture_close(capture);
}

static void machine_without_swap(void **state)
{
    (void)state;
    sonde_capture *capture = open_root(FIXTURES "noswap");
    const sonde_telemetry *now = read_now(capture);
    ASSERT_UINTS(now, {F(SWAP_TOTAL), 0}, {F(SWAP_USED), 0}, {F(SWAP_FREE), 0}, {F(SWAP_IN), 0},
                 {F(SWAP_OUT), 0});
    assert_double(now, F(SWAP_PERCENT), 0.0);
    assert_common_memory(now);
    assert_common_cpu(now);
    sonde_capture_close(capture);
}

static void machine_without_disks(void **state)
{
    (void)state;
    static const sonde_level levels[] = {SONDE_LEVEL_REGULAR, SONDE_LEVEL_FULL};
    for (unsigned i = 0; i < 2; i++) {
        sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
        options.root = FIXTURES "nodisks";
        options.level = levels[i];
        sonde_capture *capture = open_options(&options);
        const sonde_telemetry *now = read_now(capture);
        for (unsigned f = F(DISK_READ_COUNT); f <= F(DISK_BUSY_TIME); f++)
            assert_reason(now, (sonde_field)f, SONDE_EABSENT);
        assert_int_equal(sonde_telemetry_rows(now, SONDE_TABLE_DISKS), 0);
        assert_common_memory(now);
        sonde_capture_close(capture);
    }
}

/* Whole disks: two NVMe (nvme10n1 is one more, not a partition), the RAID, both volumes, loop3. */
static void assert_nvme_sum(const sonde_telemetry *now)
{
    const uint64_t n = 1000 + 2000 + 3 + 50 + 70 + 80;
    ASSERT_UINTS(now, {F(DISK_READ_COUNT), n * 10 + 7}, {F(DISK_WRITE_COUNT), n * 20},
                 {F(DISK_READ_BYTES), (n * 100 + 14) * 512}, {F(DISK_WRITE_BYTES), n * 200 * 512},
                 {F(DISK_READ_TIME), n * 3 + 1}, {F(DISK_WRITE_TIME), n * 4},
                 {F(DISK_READ_MERGED), n}, {F(DISK_WRITE_MERGED), n * 2},
                 {F(DISK_BUSY_TIME), n * 5 + 1});
}

static void disks_volumes_and_partitions(void **state)
{
    (void)state;
    static const char *const names[] = {"loop3",   "nvme0n1",   "nvme0n1p1", "nvme0n1p2",
                                        "nvme1n1", "nvme1n1p1", "nvme10n1",  "md127",
                                        "md127p1", "dm-0",      "dm-1"};
    sonde_capture *capture = open_root(FIXTURES "nvme_dm_md");
    const sonde_telemetry *now = read_now(capture);
    assert_nvme_sum(now);
    assert_row_names(now, SONDE_TABLE_DISKS, names, COUNT_OF(names));
    assert_disk_row(now, 1, 1000);
    assert_disk_row(now, 3, 600);
    assert_disk_row(now, 10, 80);
    assert_common_network(now);
    sonde_capture_close(capture);
}

static void idle_disks_are_listed_on_request(void **state)
{
    (void)state;
    static const char *const names[] = {
        "loop0", "loop1",   "loop2",     "loop3",     "loop4",   "loop5",     "loop6",
        "loop7", "nvme0n1", "nvme0n1p1", "nvme0n1p2", "nvme1n1", "nvme1n1p1", "nvme10n1",
        "md127", "md127p1", "dm-0",      "dm-1",      "zram0",   "ram0"};
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = FIXTURES "nvme_dm_md";
    options.idle_disks = 1;
    sonde_capture *capture = open_options(&options);
    const sonde_telemetry *now = read_now(capture);
    assert_row_names(now, SONDE_TABLE_DISKS, names, COUNT_OF(names));
    assert_row_uint(now, SONDE_TABLE_DISKS, 0, F(DISK_BUSY_TIME), 0);
    assert_nvme_sum(now);
    sonde_capture_close(capture);
}

/* At this level the sum comes from diskstats at first, then from /sys/block. */
static void regular_level_has_the_same_sum(void **state)
{
    (void)state;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = FIXTURES "nvme_dm_md";
    options.level = SONDE_LEVEL_REGULAR;
    sonde_capture *capture = open_options(&options);
    for (unsigned i = 0; i < 3; i++)
        assert_nvme_sum(read_now(capture));
    assert_int_equal(sonde_telemetry_rows(read_now(capture), SONDE_TABLE_DISKS), 0);
    sonde_capture_close(capture);
}

static void machine_with_200_interfaces(void **state)
{
    (void)state;
    sonde_capture *capture = open_root(FIXTURES "nics200");
    const sonde_telemetry *now = read_now(capture);
    /* every fourth is idle: of 0 to 199 (sum 19900) the numbers 3, 7 ... 199 (sum 5050) */
    const uint64_t sum = 19900 - 5050;
    ASSERT_UINTS(now, {F(NETWORK_BYTES_SENT), 150 * 2000 + sum},
                 {F(NETWORK_BYTES_RECV), 150 * 1000 + sum},
                 {F(NETWORK_PACKETS_SENT), 150 * 20 + sum},
                 {F(NETWORK_PACKETS_RECV), 150 * 10 + sum}, {F(NETWORK_ERRIN), 3},
                 {F(NETWORK_ERROUT), 5}, {F(NETWORK_DROPIN), 2}, {F(NETWORK_DROPOUT), 4 + 1});
    size_t row = 0;
    for (unsigned i = 0; i < 200; i++) {
        if (i % 4 == 3 && i != 3) /* veth3 has seen nothing but one drop */
            continue;
        char name[16] = "lo";
        if (i > 0)
            snprintf(name, sizeof name, "veth%u", i);
        assert_string_equal(sonde_telemetry_row_name(now, SONDE_TABLE_INTERFACES, row), name);
        assert_row_uint(now, SONDE_TABLE_INTERFACES, row, F(NETWORK_BYTES_RECV),
                        i == 3 ? 0 : 1000 + i);
        row++;
    }
    assert_int_equal(sonde_telemetry_rows(now, SONDE_TABLE_INTERFACES), row);
    assert_common_cpu(now);
    sonde_capture_close(capture);
}

static void assert_arguments(const sonde_telemetry *now, const char *const *expected, size_t count)
{
    const char *text = NULL;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sonde_telemetry_text(now, F(PROCESS_CMD_LINE), i, &text), SONDE_OK);
        assert_string_equal(text, expected[i]);
    }
    assert_int_equal(sonde_telemetry_text(now, F(PROCESS_CMD_LINE), count, &text), SONDE_EINVAL);
    assert_int_equal(sonde_telemetry_text(now, F(PROCESS_EXECUTABLE), 0, &text), SONDE_OK);
    assert_string_equal(text, "/usr/bin/recorded");
}

/* What needs system calls on the machine itself. */
static void assert_unsupported(const sonde_telemetry *now)
{
    static const sonde_field fields[] = {F(PROCESS_CONNECTIONS), F(PROCESS_FILES), F(DISK_TOTAL),
                                         F(DISK_USED),           F(DISK_FREE),     F(DISK_PERCENT)};
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        assert_reason(now, fields[i], SONDE_EUNSUPPORTED);
}

static void assert_5_10_process(const sonde_telemetry *now)
{
    static const char *const arguments[] = {"/usr/bin/recorded", "--name", "a b", ""};
    ASSERT_UINTS(now, {F(PROCESS_PID), 2345}, {F(PROCESS_CPU_NUMBER), 1},
                 {F(PROCESS_RSS), pages(3000)}, {F(PROCESS_VMS), pages(30140)},
                 {F(PROCESS_SHARED), pages(1500)}, {F(PROCESS_TEXT), pages(250)},
                 {F(PROCESS_LIB), 0}, {F(PROCESS_DATA), pages(8000)}, {F(PROCESS_DIRTY), 0},
                 {F(PROCESS_DESCRIPTORS), 4}, {F(PROCESS_READ_COUNT), 3000},
                 {F(PROCESS_WRITE_COUNT), 2000}, {F(PROCESS_READ_BYTES), 1228800},
                 {F(PROCESS_WRITE_BYTES), 819200}, {F(PROCESS_READ_CHARS), 5000000},
                 {F(PROCESS_WRITE_CHARS), 4000000}, {F(PROCESS_THREADS), 4},
                 {F(PROCESS_SWITCHES_VOLUNTARY), 4321}, {F(PROCESS_SWITCHES_INVOLUNTARY), 765});
    assert_double(now, F(PROCESS_MEMORY_PERCENT),
                  (double)pages(3000) / (double)KIB(16384000) * 100);
    assert_double(now, F(PROCESS_USER), ticks(1234));
    assert_double(now, F(PROCESS_SYSTEM), ticks(567));
    assert_double(now, F(PROCESS_CHILDREN_USER), ticks(89));
    assert_double(now, F(PROCESS_CHILDREN_SYSTEM), ticks(10));
    assert_double(now, F(PROCESS_IOWAIT), ticks(25));
    assert_double(now, F(PROCESS_CPU_PERCENT), 0.0);
    assert_arguments(now, arguments, COUNT_OF(arguments));
}

static void assert_5_10_machine(const sonde_telemetry *now)
{
    const uint64_t total[] = {10132153, 290696, 3084719, 46828483, 16683, 25195, 175628, 12, 34, 5};
    assert_cpu_times(now, total);
    assert_double(now, F(CPU_FREQUENCY), (3000.0 + 1200.5) / 2);
    ASSERT_UINTS(now, {F(MEMORY_TOTAL), KIB(16384000)}, {F(MEMORY_AVAILABLE), KIB(12288000)},
                 {F(MEMORY_USED), KIB(16384000 - 1024000 - 10240000 - 409600 - 204800)},
                 {F(MEMORY_FREE), KIB(1024000)}, {F(MEMORY_ACTIVE), KIB(6144000)},
                 {F(MEMORY_INACTIVE), KIB(5120000)}, {F(MEMORY_BUFFERS), KIB(204800)},
                 {F(MEMORY_CACHED), KIB(10240000 + 409600)}, {F(MEMORY_SHARED), KIB(51200)},
                 {F(MEMORY_SLAB), KIB(614400)}, {F(SWAP_TOTAL), KIB(2048000)},
                 {F(SWAP_USED), KIB(512000)}, {F(SWAP_FREE), KIB(1536000)},
                 {F(SWAP_IN), pages(1234)}, {F(SWAP_OUT), pages(56789)});
    assert_double(now, F(MEMORY_PERCENT), 25.0);
    assert_double(now, F(SWAP_PERCENT), 25.0);
}

static void linux_5_10(void **state)
{
    (void)state;
    static const char *const disks[] = {"sda", "sda1", "sda2", "sr0"};
    static const char *const nics[] = {"lo", "ens192"};
    sonde_capture *capture = open_root(FIXTURES "linux5_10");
    const sonde_telemetry *now = read_now(capture);
    assert_5_10_process(now);
    assert_5_10_machine(now);
    assert_unsupported(now);
    ASSERT_UINTS(now, {F(DISK_READ_COUNT), 1003}, {F(DISK_WRITE_COUNT), 2000},
                 {F(DISK_READ_BYTES), 80012 * 512}, {F(DISK_WRITE_BYTES), 160000 * 512},
                 {F(DISK_READ_TIME), 705}, {F(DISK_WRITE_TIME), 900}, {F(DISK_READ_MERGED), 50},
                 {F(DISK_WRITE_MERGED), 150}, {F(DISK_BUSY_TIME), 1504},
                 {F(NETWORK_BYTES_SENT), 123460789}, {F(NETWORK_BYTES_RECV), 987658321},
                 {F(NETWORK_PACKETS_SENT), 234607}, {F(NETWORK_PACKETS_RECV), 654361},
                 {F(NETWORK_ERRIN), 1}, {F(NETWORK_ERROUT), 0}, {F(NETWORK_DROPIN), 20},
                 {F(NETWORK_DROPOUT), 3});
    assert_row_names(now, SONDE_TABLE_DISKS, disks, COUNT_OF(disks));
    assert_row_names(now, SONDE_TABLE_INTERFACES, nics, COUNT_OF(nics));
    assert_reason(now, F(CPU_PERCENT), SONDE_EEARLY); /* no tick has passed in a recording */
    sonde_capture_close(capture);
}

static void assert_6_x_process(const sonde_telemetry *now)
{
    static const char *const arguments[] = {"recorded:", "a", "title", "over", "its", "arguments"};
    ASSERT_UINTS(now, {F(PROCESS_PID), 29221}, {F(PROCESS_CPU_NUMBER), 2},
                 {F(PROCESS_RSS), pages(400)}, {F(PROCESS_VMS), pages(765)},
                 {F(PROCESS_DESCRIPTORS), 3}, {F(PROCESS_READ_COUNT), 14},
                 {F(PROCESS_WRITE_CHARS), 1711}, {F(PROCESS_THREADS), 1},
                 {F(PROCESS_SWITCHES_VOLUNTARY), 0}, {F(PROCESS_SWITCHES_INVOLUNTARY), 1});
    assert_double(now, F(PROCESS_USER), ticks(250));
    assert_double(now, F(PROCESS_IOWAIT), 0.0);
    assert_arguments(now, arguments, COUNT_OF(arguments));
}

static void linux_6_x(void **state)
{
    (void)state;
    static const char *const cpus[] = {"0", "2"};
    static const char *const disks[] = {"vda"};
    static const char *const nics[] = {"lo", "eth0"};
    const uint64_t total[] = {200000, 300, 40000, 900000, 5000, 0, 600, 700, 80, 9};
    sonde_capture *capture = open_root(FIXTURES "linux6_x");
    const sonde_telemetry *now = read_now(capture);
    assert_6_x_process(now);
    assert_unsupported(now);
    assert_cpu_times(now, total);
    assert_double(now, F(CPU_FREQUENCY), 2445.428);
    ASSERT_UINTS(now, {F(MEMORY_TOTAL), KIB(32000000)}, {F(MEMORY_USED), KIB(7869460)},
                 {F(MEMORY_CACHED), KIB(4080540)}, {F(SWAP_USED), 0}, {F(SWAP_IN), pages(40)},
                 {F(SWAP_OUT), pages(80)}, {F(DISK_READ_COUNT), 77907},
                 {F(DISK_READ_BYTES), 5507922ull * 512}, {F(DISK_BUSY_TIME), 28968},
                 {F(NETWORK_BYTES_SENT), 284939}, {F(NETWORK_BYTES_RECV), 130430022},
                 {F(NETWORK_DROPIN), 6});
    assert_row_names(now, SONDE_TABLE_CPUS, cpus, 2);
    assert_row_double(now, 1, F(CPU_IDLE), ticks(460000));
    assert_row_names(now, SONDE_TABLE_DISKS, disks, 1);
    assert_row_names(now, SONDE_TABLE_INTERFACES, nics, 2);
    sonde_capture_close(capture);
}

/* A recording without a process of that number, or without a process at all. */
static void recorded_process_may_be_missing(void **state)
{
    (void)state;
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.root = FIXTURES "linux6_x";
    options.pid = 12345;
    sonde_capture *capture = NULL;
    assert_int_equal(sonde_capture_open(&options, &capture), SONDE_EGONE);
    assert_null(capture);
    capture = open_root(FIXTURES "cpus256");
    const sonde_telemetry *now = read_now(capture);
    for (unsigned f = F(PROCESS_PID); f <= F(PROCESS_SWITCHES_INVOLUNTARY); f++)
        assert_reason(now, (sonde_field)f, SONDE_EABSENT);
    sonde_capture_close(capture);
}

static void folder_without_anything_gives_reasons(void **state)
{
    (void)state;
    sonde_capture *capture = open_root(FIXTURES "no such folder");
    const sonde_telemetry *now = read_now(capture);
    for (unsigned f = 0; f < SONDE_FIELD_COUNT; f++)
        if (f < F(DISK_TOTAL) || (f > F(DISK_PERCENT) && f < F(CGROUP_VERSION)))
            assert_reason(now, (sonde_field)f, SONDE_EABSENT);
    const char *text = NULL;
    size_t len = 0;
    assert_int_equal(sonde_capture_json(capture, &text, &len), SONDE_OK);
    assert_non_null(strstr(text, "\"cpu.frequency\":\"absent\""));
    sonde_capture_close(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine_with_256_cpus),
        cmocka_unit_test(aarch64_takes_its_frequency_from_policies),
        cmocka_unit_test(machine_without_swap),
        cmocka_unit_test(machine_without_disks),
        cmocka_unit_test(disks_volumes_and_partitions),
        cmocka_unit_test(idle_disks_are_listed_on_request),
        cmocka_unit_test(regular_level_has_the_same_sum),
        cmocka_unit_test(machine_with_200_interfaces),
        cmocka_unit_test(linux_5_10),
        cmocka_unit_test(linux_6_x),
        cmocka_unit_test(recorded_process_may_be_missing),
        cmocka_unit_test(folder_without_anything_gives_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
