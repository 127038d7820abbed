/* SPDX-License-Identifier: Apache-2.0 */
/* Records one of everything that formats show, into the session "all" in the current folder's
   telemetry/: typed attributes, nesting, an error, events, links, tags, queued work, custom metrics
   with labels that need escaping. */
#include <sonde/sonde.h>

#include <time.h>

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

static void metrics(void)
{
    sonde_counter *hits = sonde_counter_get("hits_total", "Requests \\ seen\nso far",
                                            SONDE_LABELS("path", "/a\"b\\c\nd\xff", "code", "200"));
    sonde_counter_add(hits, 41);
    sonde_counter_add(sonde_counter_get("odd_name", "A counter without _total", NULL), 3);
    sonde_gauge_set(sonde_gauge_get("depth", "Depth", NULL), -2.5);
    sonde_histogram *sizes = sonde_histogram_get("size_bytes", "Sizes", NULL);
    for (int i = 1; i <= 1000; i++)
        sonde_histogram_observe(sizes, i);
    sonde_histogram_observe(sizes, 0);
}

static void tasks(void)
{
    sonde_task outer = sonde_task_begin(SONDE_NAME("data_processing"));
    sonde_task_int(outer, SONDE_USED, SONDE_NAME("batch_id"), 123);
    sonde_task_uint(outer, SONDE_USED, SONDE_NAME("huge"), UINT64_MAX);
    sonde_task_double(outer, SONDE_USED, SONDE_NAME("ratio"), 0.5);
    sonde_task_bool(outer, SONDE_USED, SONDE_NAME("flag"), 1);
    sonde_task_string(outer, SONDE_USED, SONDE_NAME("text"), "gr\xc3\xbc\xc3\x9f \xff");
    sonde_task_bytes(outer, SONDE_METADATA, SONDE_NAME("raw"), "\x00\x01\xfe", 3);
    sonde_task_json(outer, SONDE_GENERATED, SONDE_NAME("list"), "[1,2]", 5);
    sonde_task_int(outer, SONDE_GENERATED, SONDE_NAME("batch_id"), 124);
    sonde_task_device(outer, "gpu0");
    sonde_task_tag(outer, "nightly");
    sonde_task_event(outer, SONDE_NAME("checkpoint"), "{\"step\":7}", 10);
    sonde_task inner = sonde_task_begin(SONDE_NAME("transform"));
    sonde_task_string(inner, SONDE_METADATA, SONDE_NAME("span.kind"), "client");
    sonde_task_link(inner, (sonde_context){1, 2, 3});
    pause_ms(5);
    sonde_task_end_with(inner, SONDE_ERROR, "bad thing");
    sonde_ticket ticket = sonde_task_submit(SONDE_NAME("queued"));
    pause_ms(5);
    sonde_task_end(sonde_task_begin_ticket(&ticket));
    sonde_task_end(outer);
}

int main(void)
{
    sonde_session *session;
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.workflow_name = "exporting";
    options.metrics_interval_ns = 50000000;
    if (sonde_open("all", &options, &session) != SONDE_OK)
        return 1;
    metrics();
    tasks();
    pause_ms(200);
    sonde_close(session);
    return 0;
}
