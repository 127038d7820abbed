/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, names of metrics and defaults are Flowcept's (its telemetry_capture and instrumentation
   blocks, as documented); the metrics of GPUs from total on, and the keys from cgroup to
   idle_disks, are Sonde's own. */
#include "settings/settings_schema.h"

#include "settings/settings_limits.h"
#include "sonde/capture.h"
#include "sonde/machine.h"

#include <limits.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const gpu_metrics[] = {
    "used",
    "temperature",
    "power",
    "name",
    "id",
    "activity",
    "others",
    "gpu_ix",
    "power.average_socket_power",
    "power.energy_accumulator",
    "temperature.edge",
    "temperature.hotspot",
    "temperature.mem",
    "temperature.vrgfx",
    "temperature.vrmem",
    "temperature.hbm",
    "temperature.fan_speed",
    "others.current_gfxclk",
    "others.current_socclk",
    "others.current_uclk",
    "others.current_vclk0",
    "others.current_dclk0",
    "total",
    "utilization",
    "clocks",
    "energy",
    "process_memory",
    NULL,
};
_Static_assert(COUNT_OF(gpu_metrics) <= SONDE__SETTINGS_LIST, "a list can hold every metric");

/* in the order of sonde_level, so that a choice's index is the level */
static const char *const levels[] = {
#define LEVEL_KEY(name, key) key,
    SONDE_LEVEL_MAP(LEVEL_KEY)
#undef LEVEL_KEY
        NULL,
};

/* in the order of sonde__item_fields */
const char *const sonde__item_names[] = {
    "name", "raw_key", "type", "default", "metric_order", "include_in_comprehensive", NULL,
};
_Static_assert(COUNT_OF(sonde__item_names) == SONDE__SETTINGS_ITEM_FIELDS + 1, "named limit");

static const char *const compat_modes[] = {"upstream", NULL};
static const char *const builders[] = {"legacy", "comprehensive", "time", "labeled", NULL};
/* in the order of sonde_environment */
static const char *const environments[] = {
#define ENVIRONMENT_KEY(name, key) key,
    SONDE_ENVIRONMENT_MAP(ENVIRONMENT_KEY)
#undef ENVIRONMENT_KEY
        NULL,
};

static const char *const safeties[] = {"memory", "written", "durable", NULL};
static const char *const when_full[] = {"stop", "keep_last", NULL};
static const char *const torch_scopes[] = {"parent_only", "parent_and_children", NULL};
static const char *const torch_children[] = {"lightweight", "tensor_inspection", "telemetry",
                                             "telemetry_and_tensor_inspection", NULL};
static const char *const torch_loops[] = {"lightweight", "default", NULL};

#define TYPE SONDE__SETTING_BOOL, SONDE__SETTING_SELECTS
#define BOOL SONDE__SETTING_BOOL, 0

/* clang-format off */
const sonde__setting sonde__settings_rows[] = {
    {"telemetry_capture.gpu", SONDE__SETTING_NAMES,
     SONDE__SETTING_NULLABLE | SONDE__SETTING_SELECTS, "~", gpu_metrics, 0, 0,
     "Metrics of each GPU; ~ for none. AMD and NVIDIA offer different ones"},
    {"telemetry_capture.cpu", TYPE, "true", NULL, 0, 0,
     "CPU times, utilisation and frequency over all CPUs"},
    {"telemetry_capture.per_cpu", TYPE, "true", NULL, 0, 0,
     "CPU times and utilisation of each CPU"},
    {"telemetry_capture.process_info", TYPE, "true", NULL, 0, 0,
     "The process: memory, CPU, I/O, files, connections, threads, command line"},
    {"telemetry_capture.mem", TYPE, "true", NULL, 0, 0,
     "The host's memory and swap"},
    {"telemetry_capture.disk", TYPE, "true", NULL, 0, 0,
     "File system usage and disk I/O"},
    {"telemetry_capture.network", TYPE, "true", NULL, 0, 0,
     "Network I/O, in total and of each interface"},
    {"telemetry_capture.machine_info", TYPE, "true", NULL, 0, 0,
     "A description of the machine, once per workflow"},
    {"telemetry_capture.cgroup", BOOL, "false", NULL, 0, 0,
     "Limits of the container or job and their use: CPU, memory, processes"},
    {"telemetry_capture.pressure", BOOL, "false", NULL, 0, 0,
     "Time the machine lost waiting for CPU, memory and I/O"},
    {"telemetry_capture.energy", BOOL, "false", NULL, 0, 0,
     "Joules of CPU packages and memory"},
    {"telemetry_capture.load", BOOL, "false", NULL, 0, 0,
     "Load of the machine"},
    {"telemetry_capture.thermal", BOOL, "false", NULL, 0, 0,
     "Temperatures of CPU and board"},
    {"telemetry_capture.tree", BOOL, "false", NULL, 0, 0,
     "The process and its descendants together: CPU, memory, I/O, threads"},
    {"telemetry_capture.environment", SONDE__SETTING_CHOICE, 0, "listed", environments, 0, 0,
     "Variables whose values machine_info tells; of the others it has the names"},
    {"telemetry_capture.level", SONDE__SETTING_CHOICE, 0, "full", levels, 0, 0,
     "How much is read each time: the process only, totals, or every field"},
    {"telemetry_capture.disk_paths", SONDE__SETTING_PATHS, 0, "/", NULL, 0, 0,
     "File systems whose usage is reported"},
    {"telemetry_capture.idle_disks", BOOL, "false", NULL, 0, 0,
     "List loop, ram and zram devices that have done nothing, too"},
    {"instrumentation.enabled", BOOL, "true", NULL, 0, 0,
     "Record instrumented tasks; false turns instrumentation into no-ops"},
    {"instrumentation.telemetry_at_start", SONDE__SETTING_CHOICE, SONDE__SETTING_NULLABLE, "~",
     levels, 0, 0, "How much is read at the start of every task; ~ for nothing"},
    {"instrumentation.telemetry_at_end", SONDE__SETTING_CHOICE, SONDE__SETTING_NULLABLE, "~",
     levels, 0, 0, "How much is read at the end of every task; ~ for nothing"},
    {"instrumentation.torch.what", SONDE__SETTING_CHOICE, SONDE__SETTING_NULLABLE,
     "parent_and_children", torch_scopes, 0, 0,
     "PyTorch: record the model only, its layers too, or nothing (~)"},
    {"instrumentation.torch.children_mode", SONDE__SETTING_CHOICE, 0,
     "telemetry_and_tensor_inspection", torch_children, 0, 0,
     "PyTorch: what is recorded of each layer"},
    {"instrumentation.torch.epoch_loop", SONDE__SETTING_CHOICE, SONDE__SETTING_NULLABLE,
     "lightweight", torch_loops, 0, 0,
     "PyTorch: epochs as tasks without telemetry, with it, or not (~)"},
    {"instrumentation.torch.batch_loop", SONDE__SETTING_CHOICE, SONDE__SETTING_NULLABLE,
     "lightweight", torch_loops, 0, 0,
     "PyTorch: batches as tasks without telemetry, with it, or not (~)"},
    {"instrumentation.torch.capture_epochs_at_every", SONDE__SETTING_INT, 0, "1", NULL,
     1, 1000000000, "PyTorch: record every Nth epoch"},
    {"instrumentation.torch.register_workflow", BOOL, "true", NULL, 0, 0,
     "PyTorch: store the model as a workflow of its own"},
    {"session.safety", SONDE__SETTING_CHOICE, 0, "written", safeties, 0, 0,
     "What survives: memory (what was drained), written (the process may die), durable (power too)"},
    {"session.part_bytes", SONDE__SETTING_INT, 0, "0", NULL, 0, LONG_MAX,
     "Go on in a new file of the journal after so many bytes; 0 for one file"},
    {"session.bytes_max", SONDE__SETTING_INT, 0, "0", NULL, 0, LONG_MAX,
     "Most bytes of a process's journal, at least 1048576; 0 for no limit"},
    {"session.when_full", SONDE__SETTING_CHOICE, 0, "stop", when_full, 0, 0,
     "At bytes_max: write nothing more, or remove the oldest file"},
    {"session.zstd_level", SONDE__SETTING_INT, 0, "0", NULL, 0, 19,
     "Compress the journal by zstd, from 1 (fast) on; 0 for not"},
    {"attributes.enabled", BOOL, "false", NULL, 0, 0,
     "Count each finished workflow as a usage record"},
    {"attributes.compat", SONDE__SETTING_CHOICE, SONDE__SETTING_NULLABLE, "~", compat_modes, 0, 0,
     "Usage metrics as TAO's own code makes them, with its faults, or as they should be (~)"},
    {"attributes.builders", SONDE__SETTING_NAMES, SONDE__SETTING_NULLABLE, "~", builders, 0, 0,
     "Kinds of usage metrics; ~ for legacy, comprehensive and time"},
    {"attributes.max_metrics", SONDE__SETTING_INT, 0, "1000000", NULL, 1, 100000000,
     "How many usage metrics there may be; updates of more are only counted"},
    {"attributes.builtin", BOOL, "true", NULL, 0, 0,
     "Start from TAO's nine attributes; false: the table below is all there is"},
    {"attributes.table", SONDE__SETTING_ITEMS, SONDE__SETTING_NULLABLE, "~", sonde__item_names,
     0, 0, "Attributes of usage records to add, or to replace by name"},
};
/* clang-format on */

const size_t sonde__settings_row_count = COUNT_OF(sonde__settings_rows);
_Static_assert(COUNT_OF(sonde__settings_rows) <= SONDE__SETTINGS_ROWS, "named limit");

/* analytics is of Flowcept 0.9 and before. */
const char *const sonde__settings_foreign[] = {
    "flowcept_version", "project",      "log",
    "experiment",       "mq",           "kv_db",
    "web_server",       "sys_metadata", "extra_metadata",
    "analytics",        "db_buffer",    "agent",
    "databases",        "adapters",     NULL,
};
_Static_assert(COUNT_OF(sonde__settings_foreign) <= SONDE__SETTINGS_BLOCKS, "named limit");

static bool same(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* The part of row index's key that names a child of the block; NULL when it is elsewhere. */
static const char *child_of(sonde__block block, size_t index, size_t *len)
{
    const char *key = sonde__settings_rows[index].key;
    if (strncmp(key, block.key, block.len) != 0)
        return NULL;
    const char *child = key + block.len;
    *len = strcspn(child, ".");
    return child;
}

const char *sonde__schema_child(sonde__block block, size_t index, size_t *len)
{
    size_t before_len = 0;
    const char *child = child_of(block, index, len);
    const char *before = index > 0 ? child_of(block, index - 1, &before_len) : NULL;
    return child && before && same(child, *len, before, before_len) ? NULL : child;
}

sonde__found sonde__schema_find(sonde__block block, const char *name, size_t len, size_t *index,
                                sonde__block *inner)
{
    for (size_t i = 0; i < sonde__settings_row_count; i++) {
        size_t child_len;
        const char *child = sonde__schema_child(block, i, &child_len);
        if (!child || !same(child, child_len, name, len))
            continue;
        *index = i;
        if (child[child_len] == '\0')
            return SONDE__FOUND_ROW;
        *inner = (sonde__block){sonde__settings_rows[i].key, block.len + child_len + 1};
        return SONDE__FOUND_BLOCK;
    }
    for (size_t i = 0; block.len == 0 && sonde__settings_foreign[i]; i++) {
        if (same(sonde__settings_foreign[i], strlen(sonde__settings_foreign[i]), name, len)) {
            *index = i;
            return SONDE__FOUND_FOREIGN;
        }
    }
    return SONDE__FOUND_NONE;
}

const sonde__setting *sonde__schema_row(const char *key)
{
    for (size_t i = 0; i < sonde__settings_row_count; i++) {
        if (strcmp(sonde__settings_rows[i].key, key) == 0)
            return &sonde__settings_rows[i];
    }
    return NULL;
}

void sonde__schema_offer(sonde__block block, sonde__nearest *near)
{
    for (size_t i = 0; i < sonde__settings_row_count; i++) {
        size_t len;
        const char *child = sonde__schema_child(block, i, &len);
        if (child)
            sonde__nearest_offer(near, child, len);
    }
    for (size_t i = 0; block.len == 0 && sonde__settings_foreign[i]; i++)
        sonde__nearest_offer(near, sonde__settings_foreign[i], strlen(sonde__settings_foreign[i]));
}

bool sonde__schema_is_list(const sonde__setting *row)
{
    return row->type == SONDE__SETTING_NAMES || row->type == SONDE__SETTING_PATHS;
}

/* "a, b or c"; null counts as the last when it is allowed. */
static void write_choices(const sonde__setting *row, bool nullable, sonde__buf *out)
{
    for (size_t i = 0; row->choices[i]; i++) {
        bool last = !row->choices[i + 1] && !nullable;
        sonde__buf_text(out, i == 0 ? "" : last ? " or " : ", ");
        sonde__buf_text(out, row->choices[i]);
    }
    sonde__buf_text(out, nullable ? " or ~" : "");
}

void sonde__schema_expected(const sonde__setting *row, sonde__buf *out)
{
    bool nullable = (row->flags & SONDE__SETTING_NULLABLE) != 0;
    switch (row->type) {
    case SONDE__SETTING_BOOL:
        sonde__buf_text(out, "true or false");
        return;
    case SONDE__SETTING_INT:
        sonde__buf_printf(out, "a whole number from %ld to %ld", row->min, row->max);
        return;
    case SONDE__SETTING_CHOICE:
        write_choices(row, nullable, out);
        return;
    case SONDE__SETTING_NAMES:
        sonde__buf_printf(out, "%sa list such as [%s, %s]", nullable ? "~ or " : "",
                          row->choices[0], row->choices[1]);
        return;
    case SONDE__SETTING_PATHS:
        sonde__buf_printf(out, "a list of 1 to %d absolute paths", (int)SONDE_PATHS_MAX);
        return;
    case SONDE__SETTING_TEXT:
        sonde__buf_printf(out, "a text of %ld to %ld bytes", row->min, row->max);
        return;
    case SONDE__SETTING_ITEMS:
        sonde__buf_text(out, "~ or a list of blocks with ");
        write_choices(row, false, out);
        return;
    }
}

void sonde__schema_expected_element(const sonde__setting *row, sonde__buf *out)
{
    if (row->type == SONDE__SETTING_NAMES)
        write_choices(row, false, out);
    else
        sonde__buf_printf(out, "an absolute path of at most %d bytes", SONDE_PATH_BYTES - 1);
}
