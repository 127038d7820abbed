/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks through the public interface: what goes in comes out. */
#include "record_test.h"

#include <pthread.h>
#include <time.h>

static char *folder;

static int setup(void **state)
{
    (void)state;
    folder = make_folder();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

typedef struct seen {
    unsigned kinds[8];
    uint64_t id[64];
    uint64_t parent[64];
    char name[64][40];
    sonde_task_status status[64];
    unsigned tasks;
} seen;

/* Reads all tasks of session "t" and closes the reader. */
static void collect(seen *s)
{
    *s = (seen){0};
    sonde_reader *reader = read_in(folder, "t");
    sonde_record record;
    while (sonde_reader_next(reader, &record) == SONDE_OK) {
        s->kinds[record.kind]++;
        if (record.kind == SONDE_RECORD_TASK && s->tasks < 64) {
            unsigned n = s->tasks++;
            s->id[n] = record.id;
            s->parent[n] = record.parent;
            s->status[n] = record.status;
            snprintf(s->name[n], sizeof s->name[n], "%.*s", (int)record.name_len, record.name);
        }
    }
    sonde_reader_stats stats;
    sonde_reader_stats_get(reader, &stats);
    assert_int_equal(stats.missing, 0);
    assert_int_equal(stats.bad_bytes, 0);
    sonde_reader_close(reader);
}

static unsigned find(const seen *s, const char *name)
{
    for (unsigned i = 0; i < s->tasks; i++)
        if (strcmp(s->name[i], name) == 0)
            return i;
    fail_msg("no task %s", name);
    return 0;
}

static void nested_tasks_have_their_parents(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    sonde_task a = sonde_task_begin(SONDE_NAME("a"));
    sonde_task b = sonde_task_begin(SONDE_NAME("b"));
    uint64_t b_id = sonde_task_context(b).span;
    assert_true(sonde_task_current() == b);
    sonde_task c = sonde_task_begin(SONDE_NAME("c"));
    sonde_task_end(c);
    sonde_task_end_with(b, SONDE_ERROR, "no such file");
    assert_true(sonde_task_current() == a);
    sonde_task_end(a);
    sonde_close(session);
    seen s;
    collect(&s);
    assert_int_equal(s.tasks, 3);
    assert_int_equal(s.id[find(&s, "b")], b_id);
    assert_int_equal(s.parent[find(&s, "c")], b_id);
    assert_int_equal(s.parent[find(&s, "b")], s.id[find(&s, "a")]);
    assert_int_equal(s.parent[find(&s, "a")], 0);
    assert_int_equal(s.status[find(&s, "b")], SONDE_ERROR);
    assert_int_equal(s.kinds[SONDE_RECORD_OPEN], 0);
}

static void ending_a_task_closes_those_above(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    sonde_task a = sonde_task_begin(SONDE_NAME("a"));
    sonde_task b = sonde_task_begin(SONDE_NAME("b"));
    (void)sonde_task_begin(SONDE_NAME("c"));
    sonde_task_end(a);
    sonde_task_end(b); /* stale: counted */
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    assert_int_equal(stats.stale, 1);
    sonde_close(session);
    seen s;
    collect(&s);
    assert_int_equal(s.tasks, 3);
    assert_int_equal(s.status[find(&s, "c")], SONDE_UNKNOWN);
    assert_int_equal(s.status[find(&s, "b")], SONDE_UNKNOWN);
    assert_int_equal(s.status[find(&s, "a")], SONDE_FINISHED);
}

static void *end_it(void *task)
{
    sonde_task t = *(sonde_task *)task;
    sonde_task_int(t, SONDE_GENERATED, SONDE_NAME("from"), 2);
    sonde_task_end(t);
    sonde_task_end(t);
    return NULL;
}

static void another_thread_may_end_a_task(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    sonde_task outer = sonde_task_begin(SONDE_NAME("outer"));
    for (int i = 0; i < 300; i++) { /* more than there are slots: they come back */
        sonde_task task = sonde_task_begin(SONDE_NAME("handed"));
        assert_int_not_equal(task, 0);
        uint64_t id = sonde_task_context(task).span;
        pthread_t thread;
        pthread_create(&thread, NULL, end_it, &task);
        pthread_join(thread, NULL);
        assert_true(sonde_task_context(task).span == id);
    }
    sonde_task_end(outer);
    sonde_session_stats stats;
    sonde_session_stats_get(session, &stats);
    assert_int_equal(stats.stale, 300);
    assert_int_equal(stats.lost, 0);
    sonde_close(session);
    sonde_reader *reader = read_in(folder, "t");
    sonde_record record;
    unsigned handed = 0;
    uint64_t parent = 0;
    while (sonde_reader_next(reader, &record) == SONDE_OK)
        if (record.kind == SONDE_RECORD_TASK && name_is(&record, "handed")) {
            handed++;
            parent = record.parent;
            assert_int_equal(int_attr(&record, "from", 0), 2);
        } else if (record.kind == SONDE_RECORD_TASK) {
            assert_int_equal(record.id, parent);
        }
    assert_int_equal(handed, 300);
    sonde_reader_close(reader);
}

static void attributes_come_back_as_they_were_given(void **state)
{
    (void)state;
    static char big[40000];
    memset(big, 'x', sizeof big);
    sonde_session *session = open_in(folder, "t");
    sonde_task task = sonde_task_begin(SONDE_NAME("a"));
    sonde_task_int(task, SONDE_USED, SONDE_NAME("int"), INT64_MIN);
    sonde_task_uint(task, SONDE_USED, SONDE_NAME("uint"), UINT64_MAX);
    sonde_task_double(task, SONDE_GENERATED, SONDE_NAME("double"), 0.1);
    sonde_task_bool(task, SONDE_METADATA, SONDE_NAME("bool"), 7);
    sonde_task_string(task, SONDE_USED, SONDE_NAME("string"), "gr\xc3\xbc\xc3\x9f");
    sonde_task_bytes(task, SONDE_USED, SONDE_NAME("bytes"), "\0\1\2", 3);
    sonde_task_json(task, SONDE_USED, SONDE_NAME("json"), "[1,{}]", 6);
    for (int i = 0; i < 100; i++) /* beyond the slot: spills */
        sonde_task_int(task, SONDE_METADATA, SONDE_NAME("last"), i);
    sonde_task_string_n(task, SONDE_GENERATED, SONDE_NAME("big"), big, sizeof big);
    for (size_t len = 0; len < 40; len++) {
        char key[8];
        snprintf(key, sizeof key, "s%zu", len);
        sonde_task_string_n(task, SONDE_USED, sonde_name_get(key), big, len);
    }
    sonde_task_end(task);
    sonde_close(session);

    sonde_reader *reader = read_in(folder, "t");
    sonde_record record;
    do
        assert_int_equal(sonde_reader_next(reader, &record), SONDE_OK);
    while (record.kind != SONDE_RECORD_TASK);
    unsigned found = 0;
    for (size_t i = 0; i < record.attr_count; i++) {
        const sonde_attr *attr = &record.attrs[i];
        char key[40];
        snprintf(key, sizeof key, "%.*s", (int)attr->key_len, attr->key);
        found++;
        if (strcmp(key, "int") == 0) {
            assert_true(attr->value.i == INT64_MIN && attr->group == SONDE_USED);
        } else if (strcmp(key, "uint") == 0) {
            assert_true(attr->value.u == UINT64_MAX);
        } else if (strcmp(key, "double") == 0) {
            assert_true(attr->value.d == 0.1 && attr->group == SONDE_GENERATED);
        } else if (strcmp(key, "bool") == 0) {
            assert_true(attr->value.b == 1 && attr->group == SONDE_METADATA);
        } else if (strcmp(key, "string") == 0) {
            assert_int_equal(attr->value.s.len, 6);
        } else if (strcmp(key, "bytes") == 0) {
            assert_memory_equal(attr->value.s.data, "\0\1\2", 3);
        } else if (strcmp(key, "json") == 0) {
            assert_int_equal(attr->type, SONDE_ATTR_JSON);
        } else if (strcmp(key, "last") == 0) {
            assert_int_equal(attr->value.i, 99);
        } else if (strcmp(key, "big") == 0) {
            assert_int_equal(attr->value.s.full_len, sizeof big);
            assert_in_range(attr->value.s.len, 32000, 32768);
        } else {
            size_t len = (size_t)atoi(key + 1);
            assert_int_equal(attr->value.s.len, len);
            assert_memory_equal(attr->value.s.data, big, len);
        }
    }
    assert_int_equal(found, 9 + 40);
    sonde_reader_close(reader);
}

static void identity_events_and_links(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    sonde_context far = {1, 2, 3};
    sonde_task task = sonde_task_begin_child(SONDE_NAME("a"), far);
    sonde_task_subtype(task, "kernel");
    sonde_task_tag(task, "one");
    sonde_task_tag(task, "two");
    sonde_task_device(task, "igpu");
    sonde_task_worker(task, "w1");
    sonde_task_group(task, "g");
    sonde_task_layer(task, -4);
    sonde_task_event(task, SONDE_NAME("checkpoint"), "{\"n\":1}", 7);
    sonde_task_link(task, far);
    sonde_task_end(task);
    sonde_close(session);
    sonde_reader *reader = read_in(folder, "t");
    sonde_record r;
    do
        assert_int_equal(sonde_reader_next(reader, &r), SONDE_OK);
    while (r.kind != SONDE_RECORD_TASK);
    assert_true(r.trace_hi == 1 && r.trace_lo == 2 && r.parent == 3);
    assert_memory_equal(r.subtype, "kernel", 6);
    assert_int_equal(r.tag_count, 2);
    assert_memory_equal(r.tags[1].value.s.data, "two", 3);
    assert_memory_equal(r.device, "igpu", 4);
    assert_memory_equal(r.worker, "w1", 2);
    assert_memory_equal(r.group, "g", 1);
    assert_true(r.has_layer && r.layer == -4);
    assert_int_equal(r.event_count, 1);
    assert_memory_equal(r.events[0].name, "checkpoint", 10);
    assert_true(r.events[0].wall_ns >= r.start_wall_ns && r.events[0].wall_ns <= r.end_wall_ns);
    assert_memory_equal(r.events[0].json, "{\"n\":1}", 7);
    assert_true(r.link_count == 1 && r.links[0].span == 3);
    sonde_reader_close(reader);
}

static void *run_ticket(void *ticket)
{
    sonde_task task = sonde_task_begin_ticket(ticket);
    sonde_task inner = sonde_task_begin(SONDE_NAME("inner"));
    sonde_task_end(inner);
    sonde_task_end(task);
    return NULL;
}

static void queued_work_has_queue_time_and_run_time(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    sonde_task outer = sonde_task_begin(SONDE_NAME("outer"));
    uint64_t outer_id = sonde_task_context(outer).span;
    sonde_ticket ticket = sonde_task_submit(SONDE_NAME("job"));
    sonde_task_end(outer);
    nanosleep(&(struct timespec){0, 5000000}, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, run_ticket, &ticket);
    pthread_join(thread, NULL);
    (void)sonde_task_submit(SONDE_NAME("forgotten"));
    sonde_close(session);
    sonde_reader *reader = read_in(folder, "t");
    sonde_record r;
    unsigned submits = 0;
    uint64_t job = 0;
    uint64_t inner_parent = 0;
    while (sonde_reader_next(reader, &r) == SONDE_OK) {
        if (r.kind == SONDE_RECORD_SUBMIT)
            submits++;
        if (r.kind == SONDE_RECORD_TASK && name_is(&r, "inner"))
            inner_parent = r.parent;
        if (r.kind == SONDE_RECORD_TASK && name_is(&r, "job")) {
            job = r.id;
            assert_int_equal(r.parent, outer_id);
            assert_in_range(r.start_wall_ns - r.submitted_wall_ns, 5000000, 5000000000u);
        }
    }
    assert_int_equal(submits, 2);
    assert_int_equal(job, ticket.self.span);
    assert_int_equal(inner_parent, job);
    sonde_reader_close(reader);
}

static void given_times_are_kept(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    int64_t layer = 3;
    sonde_attr attr = {.group = SONDE_USED, .type = SONDE_ATTR_INT, .key = "n", .value.i = 5};
    sonde_task_info info = {
        .activity = SONDE_NAME("kernel"),
        .submitted_wall_ns = 1500000000000000001u,
        .start_wall_ns = 1500000000000000100u,
        .duration_ns = 12345,
        .status = SONDE_FINISHED,
        .device = "gpu0",
        .layer = &layer,
        .attrs = &attr,
        .attr_count = 1,
    };
    sonde_context self = sonde_task_record(&info);
    assert_int_not_equal(self.span, 0);
    sonde_close(session);
    sonde_reader *reader = read_in(folder, "t");
    sonde_record r;
    do
        assert_int_equal(sonde_reader_next(reader, &r), SONDE_OK);
    while (r.kind != SONDE_RECORD_TASK);
    assert_true(r.id == self.span && r.start_wall_ns == info.start_wall_ns);
    assert_true(r.duration_ns == 12345 && r.submitted_wall_ns == info.submitted_wall_ns);
    assert_true(int_attr(&r, "n", 0) == 5 && r.layer == 3);
    sonde_reader_close(reader);
}

static void too_many_open_tasks_are_counted(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    sonde_task first = sonde_task_begin(SONDE_NAME("a"));
    for (int i = 1; i < 200; i++)
        (void)sonde_task_begin(SONDE_NAME("a"));
    sonde_task_end(first);
    sonde_close(session);
    sonde_reader *reader = read_in(folder, "t");
    sonde_record r;
    uint64_t stored = 0;
    uint64_t lost = 0;
    while (sonde_reader_next(reader, &r) == SONDE_OK) {
        stored += r.kind == SONDE_RECORD_TASK;
        lost += r.kind == SONDE_RECORD_LOSS ? r.count : 0;
    }
    assert_int_equal(stored + lost, 200);
    assert_int_equal(stored, 128);
    sonde_reader_close(reader);
}

static void off_and_on_again(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    sonde_task a = sonde_task_begin(SONDE_NAME("a"));
    sonde_set_enabled(0);
    assert_false(sonde_enabled());
    assert_int_equal(sonde_task_begin(SONDE_NAME("no")), 0);
    sonde_task_end(a);
    sonde_set_enabled(1);
    sonde_task_end(sonde_task_begin(SONDE_NAME("b")));
    sonde_session *second = NULL;
    assert_int_equal(sonde_open("u", NULL, &second), SONDE_EBUSY);
    sonde_close(session);
    sonde_task_end(a);
    sonde_close(NULL);
    seen s;
    collect(&s);
    assert_int_equal(s.tasks, 2);
    /* the same process, another session; a name that exists gets a suffix */
    session = open_in(folder, "t");
    assert_string_equal(sonde_session_name(session), "t_2");
    sonde_task_end(sonde_task_begin(SONDE_NAME("c")));
    sonde_close_with(session, SONDE_ERROR, "why", NULL, 0);
    sonde_reader *reader = read_in(folder, "t_2");
    const sonde_run *run = sonde_reader_run(reader, 0);
    assert_int_equal(run->status, SONDE_ERROR);
    assert_string_equal(run->error, "why");
    assert_int_equal(run->state, SONDE_RUN_CLOSED);
    sonde_reader_close(reader);
}

static void disabled_from_outside(void **state)
{
    (void)state;
    setenv("SONDE_DISABLED", "1", 1);
    sonde_session *session = open_in(folder, "t");
    assert_int_equal(sonde_task_begin(SONDE_NAME("a")), 0);
    assert_int_equal(sonde_flush(session, 0, 0), SONDE_OK);
    sonde_close(session);
    unsetenv("SONDE_DISABLED");
    char settings[600];
    snprintf(settings, sizeof settings, "%s/settings.yaml", folder);
    FILE *file = fopen(settings, "w");
    fputs("instrumentation:\n  enabled: false\n", file);
    fclose(file);
    setenv("SONDE_SETTINGS", settings, 1);
    session = open_in(folder, "t");
    assert_int_equal(sonde_task_begin(SONDE_NAME("a")), 0);
    sonde_close(session);
    unsetenv("SONDE_SETTINGS");
    char path[600];
    snprintf(path, sizeof path, "%s/t.sonde", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(sonde_open("a/b", NULL, &session), SONDE_EINVAL);
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = "/proc/no/such";
    assert_int_not_equal(sonde_open("t", &options, &session), SONDE_OK);
}

static void traceparent_text(void **state)
{
    (void)state;
    sonde_context c = {0x0af7651916cd43ddu, 0x8448eb211c80319cu, 0xb7ad6b7169203331u};
    char text[SONDE_TRACEPARENT_SIZE];
    sonde_context_format(c, text);
    assert_string_equal(text, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    sonde_context back = {0, 0, 0};
    assert_int_equal(sonde_context_parse(text, &back), SONDE_OK);
    assert_memory_equal(&c, &back, sizeof c);
    static const char *const wrong[] = {
        "",
        "00-",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(sonde_context_parse(wrong[i], &back), SONDE_EBADDATA);
    assert_int_equal(
        sonde_context_parse("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-new", &back),
        SONDE_OK);
}

static void a_live_session_can_be_read(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    sonde_task_end(sonde_task_begin(SONDE_NAME("a")));
    sonde_task open = sonde_task_begin(SONDE_NAME("b"));
    sonde_task_set_status(open, SONDE_WAITING);
    seen s;
    collect(&s); /* nothing may be drained yet: it comes from the segment */
    assert_int_equal(s.tasks, 1);
    assert_int_equal(s.kinds[SONDE_RECORD_OPEN], 1);
    assert_int_equal(s.kinds[SONDE_RECORD_RUN_END], 0);
    assert_int_equal(sonde_flush(session, 1, 2000000000u), SONDE_OK);
    sonde_task_end(open);
    collect(&s);
    assert_int_equal(s.tasks, 2);
    assert_int_equal(s.kinds[SONDE_RECORD_OPEN], 0);
    sonde_close(session);
    collect(&s);
    assert_int_equal(s.tasks, 2);
    assert_int_equal(s.kinds[SONDE_RECORD_RUN_END], 1);
}

static void following_sees_what_comes(void **state)
{
    (void)state;
    sonde_session *session = open_in(folder, "t");
    assert_int_equal(sonde_flush(session, 0, 2000000000u), SONDE_OK);
    sonde_reader *reader = read_in(folder, "t");
    sonde_record r;
    while (sonde_reader_next(reader, &r) == SONDE_OK)
        assert_int_equal(r.kind, SONDE_RECORD_RUN_BEGIN);
    assert_int_equal(sonde_reader_follow(reader, 0), SONDE_EEND);
    for (int i = 0; i < 3; i++) {
        sonde_task_end(sonde_task_begin(SONDE_NAME("a")));
        assert_int_equal(sonde_reader_follow(reader, 2000000000u), SONDE_OK);
        assert_int_equal(sonde_reader_next(reader, &r), SONDE_OK);
        assert_int_equal(r.kind, SONDE_RECORD_TASK);
        assert_int_equal(sonde_reader_next(reader, &r), SONDE_EEND);
    }
    sonde_close(session);
    assert_int_equal(sonde_reader_follow(reader, 2000000000u), SONDE_OK);
    assert_int_equal(sonde_reader_next(reader, &r), SONDE_OK);
    assert_int_equal(r.kind, SONDE_RECORD_RUN_END);
    sonde_reader_close(reader);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nested_tasks_have_their_parents),
        TEST(ending_a_task_closes_those_above),
        TEST(another_thread_may_end_a_task),
        TEST(attributes_come_back_as_they_were_given),
        TEST(identity_events_and_links),
        TEST(queued_work_has_queue_time_and_run_time),
        TEST(given_times_are_kept),
        TEST(too_many_open_tasks_are_counted),
        TEST(off_and_on_again),
        TEST(disabled_from_outside),
        TEST(traceparent_text),
        TEST(a_live_session_can_be_read),
        TEST(following_sees_what_comes),
    };
    return cmocka_run_group_tests_name("record_task", tests, NULL, NULL);
}
