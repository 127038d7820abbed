/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU with the keys of py-cpuinfo 9, and those of its version 5 (Debian's) beside them, from
   /proc/cpuinfo and sysfs; py-cpuinfo starts a dozen programs for it. Keys that tell about Python
   itself are left out. Values follow the kernel where py-cpuinfo misreads CPUID (line size and
   associativity of the L2 cache). On ARM, names come from the implementer and part numbers. */
#include "base/number_parse.h"
#include "capture/machine_part.h"
#include "capture/parsers.h"
#include "capture/small_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { FLAGS_MAX = 512, CACHES_MAX = 8 };

/* "vendor_id\t: AuthenticAMD\n": the text after the colon when the line is of this key. */
static bool line_value(sonde__scan line, const char *key, sonde__cpu_text *out)
{
    if (!sonde__scan_literal(&line, key, strlen(key)))
        return false;
    sonde__scan_blanks(&line);
    if (!sonde__scan_literal(&line, ":", 1))
        return false;
    sonde__scan_blanks(&line);
    *out = (sonde__cpu_text){line.at, (size_t)(line.end - line.at) - 1};
    return true;
}

/* A decimal or hexadecimal number. */
static bool line_number(sonde__scan line, const char *key, long *out)
{
    sonde__cpu_text text;
    char digits[24];
    if (!line_value(line, key, &text) || text.len == 0 || text.len >= sizeof digits)
        return false;
    memcpy(digits, text.text, text.len);
    digits[text.len] = '\0';
    char *end;
    long value = strtol(digits, &end, 0);
    if (end == digits || *end || value < 0)
        return false;
    *out = value;
    return true;
}

void sonde__parse_cpu_details(const char *text, size_t len, sonde__cpu_details *out)
{
    *out = (sonde__cpu_details){.family = -1,
                                .model = -1,
                                .stepping = -1,
                                .implementer = -1,
                                .part = -1,
                                .variant = -1,
                                .revision = -1};
    const struct {
        const char *key;
        sonde__cpu_text *text;
    } texts[] = {{"vendor_id", &out->vendor},
                 {"model name", &out->brand},
                 {"flags", &out->flags},
                 {"Features", &out->flags},
                 {"Hardware", &out->hardware}};
    const struct {
        const char *key;
        long *number;
    } numbers[] = {{"cpu family", &out->family},       {"model", &out->model},
                   {"stepping", &out->stepping},       {"CPU implementer", &out->implementer},
                   {"CPU architecture", &out->family}, {"CPU variant", &out->variant},
                   {"CPU part", &out->part},           {"CPU revision", &out->revision}};
    sonde__scan scan = sonde__scan_of(text, len), line;
    sonde__cpu_text ignored;
    while (sonde__scan_line(&scan, &line)) {
        out->processors += line_value(line, "processor", &ignored);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            if (!texts[i].text->text)
                line_value(line, texts[i].key, texts[i].text);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (*numbers[i].number < 0)
                line_number(line, numbers[i].key, numbers[i].number);
    }
    if (len == 0 || sonde__cpuinfo_mhz(text, len, &out->mhz) != SONDE_OK)
        out->mhz = 0;
}

static const char *find_name(long number, const long *numbers, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        if (numbers[i] == number)
            return names[i];
    return NULL;
}

static const char *arm_vendor(long implementer)
{
    static const long numbers[] = {0x41, 0x42, 0x43, 0x46, 0x48, 0x4e,
                                   0x50, 0x51, 0x53, 0x61, 0xc0};
    static const char *const names[] = {"ARM",       "Broadcom", "Cavium", "FUJITSU",
                                        "HiSilicon", "NVIDIA",   "APM",    "Qualcomm",
                                        "Samsung",   "Apple",    "Ampere", NULL};
    return find_name(implementer, numbers, names);
}

static const char *arm_part(long implementer, long part)
{
    static const long numbers[] = {0xd03, 0xd04, 0xd05, 0xd07, 0xd08, 0xd09, 0xd0a, 0xd0b,
                                   0xd0c, 0xd40, 0xd41, 0xd49, 0xd4f, 0xd84, 0xd8e};
    static const char *const names[] = {"Cortex-A53",  "Cortex-A35",  "Cortex-A55",  "Cortex-A57",
                                        "Cortex-A72",  "Cortex-A73",  "Cortex-A75",  "Cortex-A76",
                                        "Neoverse-N1", "Neoverse-V1", "Cortex-A78",  "Neoverse-N2",
                                        "Neoverse-V2", "Neoverse-V3", "Neoverse-N3", NULL};
    return implementer == 0x41 ? find_name(part, numbers, names) : NULL;
}

static void write_text(sonde__json *json, const char *key, const char *old_key, const char *text,
                       size_t len)
{
    const char *keys[] = {key, old_key};
    for (size_t i = 0; text && i < 2; i++) {
        if (!keys[i])
            continue;
        sonde__json_key(json, keys[i]);
        sonde__json_string_n(json, text, len);
    }
}

static void write_number(sonde__json *json, const char *key, long value)
{
    if (value < 0)
        return;
    sonde__json_key(json, key);
    sonde__json_int(json, value);
}

static void write_names(sonde__json *json, const sonde__cpu_details *cpu)
{
    const char *vendor = arm_vendor(cpu->implementer);
    const char *brand = arm_part(cpu->implementer, cpu->part);
    if (cpu->vendor.text)
        write_text(json, "vendor_id_raw", "vendor_id", cpu->vendor.text, cpu->vendor.len);
    else if (vendor)
        write_text(json, "vendor_id_raw", "vendor_id", vendor, strlen(vendor));
    if (cpu->brand.text)
        write_text(json, "brand_raw", "brand", cpu->brand.text, cpu->brand.len);
    else if (brand)
        write_text(json, "brand_raw", "brand", brand, strlen(brand));
    write_text(json, "hardware_raw", "hardware", cpu->hardware.text, cpu->hardware.len);
}

static void write_architecture(sonde__json *json)
{
    static const char *const known[][2] = {{"x86_64", "X86_64"},
                                           {"aarch64", "ARM_8"},
                                           {"riscv64", "RISCV_64"},
                                           {"ppc64le", "PPC_64"},
                                           {"s390x", "S390X"}};
    struct utsname name;
    if (uname(&name) != 0)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name.machine, known[i][0]) == 0)
            write_text(json, "arch", NULL, known[i][1], strlen(known[i][1]));
    write_number(json, "bits", (long)sizeof(void *) * 8);
    write_number(json, "count", sysconf(_SC_NPROCESSORS_ONLN));
    write_text(json, "arch_string_raw", "raw_arch_string", name.machine, strlen(name.machine));
}

/* "AMD EPYC 7763 @ 2.45GHz": the frequency on the box. */
static double advertised_hz(const sonde__cpu_text *brand)
{
    const char *at = brand->text ? memrchr(brand->text, '@', brand->len) : NULL;
    if (!at)
        return 0;
    const char *end = brand->text + brand->len;
    char text[16];
    size_t len = 0;
    for (at++; at < end && *at == ' '; at++)
        ;
    while (at < end && len + 1 < sizeof text && ((*at >= '0' && *at <= '9') || *at == '.'))
        text[len++] = *at++;
    double value;
    if (len == 0 || text[0] == '.' || text[len - 1] == '.' ||
        sonde__parse_double(text, len, &value) != SONDE_OK)
        return 0;
    bool giga = at + 2 < end && strncmp(at, "GHz", 3) == 0;
    bool mega = at + 2 < end && strncmp(at, "MHz", 3) == 0;
    return giga ? value * 1e9 : mega ? value * 1e6 : 0;
}

static void write_hz(sonde__json *json, const char *what, double hz)
{
    char key[48], text[32];
    if (hz <= 0)
        return;
    snprintf(text, sizeof text, "%.4f %s", hz >= 1e9 ? hz / 1e9 : hz / 1e6,
             hz >= 1e9 ? "GHz" : "MHz");
    snprintf(key, sizeof key, "hz_%s_friendly", what);
    write_text(json, key, NULL, text, strlen(text));
    for (unsigned i = 0; i < 2; i++) {
        snprintf(key, sizeof key, i ? "hz_%s_raw" : "hz_%s", what);
        sonde__json_key(json, key);
        sonde__json_begin_array(json);
        sonde__json_uint(json, (uint64_t)(hz + 0.5));
        sonde__json_uint(json, 0);
        sonde__json_end_array(json);
    }
}

static void write_frequency(sonde__json *json, sonde__host *host, const sonde__cpu_details *cpu)
{
    uint64_t khz;
    double actual = cpu->mhz * 1e6, advertised = advertised_hz(&cpu->brand);
    if (actual <= 0 &&
        sonde__small_number(host, &khz, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq") ==
            SONDE_OK)
        actual = (double)khz * 1e3;
    if (advertised <= 0 &&
        sonde__small_number(host, &khz, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") ==
            SONDE_OK)
        advertised = (double)khz * 1e3;
    write_hz(json, "advertised", advertised > 0 ? advertised : actual);
    write_hz(json, "actual", actual);
}

/* "r3p1" on ARM, else the number. py-cpuinfo shows the extended parts only where they are not 0. */
static void write_model(sonde__json *json, const sonde__cpu_details *cpu)
{
    char stepping[48];
    if (cpu->implementer >= 0 && cpu->variant >= 0 && cpu->revision >= 0) {
        snprintf(stepping, sizeof stepping, "r%ldp%ld", cpu->variant, cpu->revision);
        write_text(json, "stepping", NULL, stepping, strlen(stepping));
        write_number(json, "model", cpu->part);
        write_number(json, "family", cpu->family);
        return;
    }
    write_number(json, "stepping", cpu->stepping);
    write_number(json, "model", cpu->model);
    write_number(json, "family", cpu->family);
    if (cpu->family > 15)
        write_number(json, "extended_family", cpu->family - 15);
    if (cpu->model > 15)
        write_number(json, "extended_model", cpu->model >> 4);
}

static int compare_texts(const void *a, const void *b)
{
    const sonde__cpu_text *left = a, *right = b;
    size_t least = left->len < right->len ? left->len : right->len;
    int order = memcmp(left->text, right->text, least);
    return order ? order : (left->len > right->len) - (left->len < right->len);
}

static void write_flags(sonde__json *json, const sonde__cpu_text *flags)
{
    sonde__cpu_text word[FLAGS_MAX];
    size_t count = 0;
    if (!flags->text)
        return;
    sonde__scan scan = {flags->text, flags->text + flags->len + 1}; /* with its newline */
    while (count < FLAGS_MAX && sonde__scan_word(&scan, &word[count].text, &word[count].len))
        count++;
    qsort(word, count, sizeof *word, compare_texts);
    sonde__json_key(json, "flags");
    sonde__json_begin_array(json);
    for (size_t i = 0; i < count; i++)
        sonde__json_string_n(json, word[i].text, word[i].len);
    sonde__json_end_array(json);
}

/* CPUs in a list such as "0-3,8". */
static unsigned count_cpus(const char *list)
{
    unsigned count = 0;
    for (const char *at = list; *at;) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (end == at)
            break;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last >= first && last - first < SONDE__ROWS_MAX)
            count += (unsigned)(last - first) + 1;
        at = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* "512K" in bytes. */
static uint64_t parse_size(const char *text)
{
    char *end;
    uint64_t size = strtoull(text, &end, 10);
    return *end == 'K' ? size << 10 : *end == 'M' ? size << 20 : size;
}

static const char *cache_key(uint64_t level, const char *type)
{
    if (level == 1)
        return strcmp(type, "Instruction") == 0 ? "l1_instruction_cache_size"
                                                : "l1_data_cache_size";
    return level == 2 ? "l2_cache_size" : level == 3 ? "l3_cache_size" : NULL;
}

/* One cache of CPU 0, times the number of such caches there are. */
static bool write_cache(sonde__json *json, sonde__host *host, unsigned index, unsigned processors)
{
    uint64_t level, line_bytes, ways;
    char type[16], size[24], shared[256];
    static const char folder[] = "/sys/devices/system/cpu/cpu0/cache/index";
    if (sonde__small_number(host, &level, "%s%u/level", folder, index) != SONDE_OK ||
        sonde__small_line(host, type, sizeof type, "%s%u/type", folder, index) != SONDE_OK ||
        sonde__small_line(host, size, sizeof size, "%s%u/size", folder, index) != SONDE_OK)
        return false;
    unsigned sharing = 1;
    if (sonde__small_line(host, shared, sizeof shared, "%s%u/shared_cpu_list", folder, index) ==
        SONDE_OK)
        sharing = count_cpus(shared);
    unsigned caches = sharing > 0 && processors > sharing ? processors / sharing : 1;
    const char *key = cache_key(level, type);
    if (!key)
        return true;
    sonde__json_key(json, key);
    sonde__json_uint(json, parse_size(size) * caches);
    if (level != 2)
        return true;
    if (sonde__small_number(host, &line_bytes, "%s%u/coherency_line_size", folder, index) ==
        SONDE_OK)
        write_number(json, "l2_cache_line_size", (long)line_bytes);
    if (sonde__small_number(host, &ways, "%s%u/ways_of_associativity", folder, index) == SONDE_OK)
        write_number(json, "l2_cache_associativity", (long)ways);
    return true;
}

void sonde__machine_write_cpu(sonde__json *json, sonde__host *host)
{
    sonde__cpu_details cpu = {0};
    sonde__kernel_file file;
    sonde__json_key(json, "cpu");
    sonde__json_begin_object(json);
    write_architecture(json);
    if (sonde__host_open_file(host, "/proc/cpuinfo", SONDE__FILE_RECORDS, &file) == SONDE_OK) {
        sonde__buf text; /* host->text is used for the small files */
        sonde__buf_init(&text, SONDE__KERNEL_FILE_MAX);
        if (sonde__kernel_file_read(&file, &text) == SONDE_OK && text.len > 0) {
            sonde__parse_cpu_details(text.data, text.len, &cpu);
            write_names(json, &cpu);
            write_frequency(json, host, &cpu);
            write_model(json, &cpu);
            write_flags(json, &cpu.flags);
        }
        sonde__buf_free(&text);
        sonde__kernel_file_close(&file);
    }
    for (unsigned i = 0; i < CACHES_MAX; i++)
        if (!write_cache(json, host, i, cpu.processors))
            break;
    sonde__json_end_object(json);
}
