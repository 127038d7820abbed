/* SPDX-License-Identifier: Apache-2.0 */
/* From YAML events to values, guided by the schema. The handle is built aside and given out only
   when the whole text was good, so nothing is ever half-applied. */
#include "settings/settings_events.h"
#include "settings/settings_items.h"
#include "settings/settings_schema.h"
#include "settings/settings_value.h"
#include "sonde/settings.h"

#include <stdio.h>
#include <string.h>

struct reader {
    sonde__events events;
    const sonde__complaints *complaints;
    sonde_settings *settings;
    bool mentioned[SONDE__SETTINGS_ROWS];
};

/* Lines where the names of one block were met first, for rows (a block counts by its first row),
   then for foreign blocks; 0: not yet. */
struct met {
    size_t line[SONDE__SETTINGS_ROWS + SONDE__SETTINGS_BLOCKS];
};

static const sonde__block top = {"", 0};

/* Message texts that hold a list of names. */
typedef struct words {
    char text[sizeof(sonde_settings_error)];
} words;

static words words_done(words text, const sonde__buf *buf)
{
    text.text[buf->len < sizeof text.text ? buf->len : sizeof text.text - 1] = '\0';
    return text;
}

static words expected_of(const sonde__setting *row, bool element)
{
    words text;
    sonde__buf buf;
    sonde__buf_init_fixed(&buf, text.text, sizeof text.text);
    if (element)
        sonde__schema_expected_element(row, &buf);
    else
        sonde__schema_expected(row, &buf);
    return words_done(text, &buf);
}

static words children_of(sonde__block block)
{
    words text;
    sonde__buf buf;
    sonde__buf_init_fixed(&buf, text.text, sizeof text.text);
    for (size_t i = 0; i < sonde__settings_row_count; i++) {
        size_t len;
        const char *child = sonde__schema_child(block, i, &len);
        if (child)
            sonde__buf_printf(&buf, "%s%.*s", buf.len ? ", " : "", (int)len, child);
    }
    return words_done(text, &buf);
}

/* The block, of those that know a setting by this name, that comes first; top when there is none.
 */
static sonde__block block_that_knows(const sonde__event *name)
{
    for (size_t i = 0; i < sonde__settings_row_count; i++) {
        const char *key = sonde__settings_rows[i].key;
        const char *leaf = strrchr(key, '.') + 1;
        if (strlen(leaf) == name->len && memcmp(leaf, name->text, name->len) == 0)
            return (sonde__block){key, (size_t)(leaf - key)};
    }
    return top;
}

static sonde_status refuse_key(const struct reader *reader, sonde__block block,
                               const sonde__event *name)
{
    words where = {" at the top"};
    if (block.len > 0)
        snprintf(where.text, sizeof where.text, " in %.*s", (int)block.len - 1, block.key);
    sonde__shown shown = sonde__show(name->text, name->len);
    sonde__nearest near;
    sonde__nearest_init(&near, name->text, name->len);
    sonde__schema_offer(block, &near);
    if (near.best)
        return sonde__complain(reader->complaints, name->place, SONDE_EBADDATA,
                               "unknown key %s%s; did you mean \"%.*s\"?", shown.text, where.text,
                               (int)near.best_len, near.best);
    sonde__block other = block_that_knows(name);
    if (other.len > 0)
        return sonde__complain(reader->complaints, name->place, SONDE_EBADDATA,
                               "unknown key %s%s; it is known under %.*s", shown.text, where.text,
                               (int)other.len - 1, other.key);
    return sonde__complain(reader->complaints, name->place, SONDE_EBADDATA,
                           "unknown key %s%s; expected one of %s", shown.text, where.text,
                           children_of(block).text);
}

static bool is_null(const sonde__event *event)
{
    return event->kind == SONDE__EVENT_SCALAR && event->plain &&
           sonde__text_is_null(event->text, event->len);
}

/* What an event is, for "... is X". */
static sonde__shown what_is(const sonde__event *event)
{
    sonde__shown what;
    if (event->kind == SONDE__EVENT_LIST)
        snprintf(what.text, sizeof what.text, "a list");
    else if (event->kind == SONDE__EVENT_BLOCK)
        snprintf(what.text, sizeof what.text, "a block");
    else if (is_null(event))
        snprintf(what.text, sizeof what.text, "null");
    else
        what = sonde__show(event->text, event->len);
    return what;
}

/* Says that event is no value of a row (or no element of its list), and what would be one. */
static sonde_status refuse_value(const struct reader *reader, const sonde__setting *row,
                                 const sonde__event *event, bool element)
{
    bool scalar = event->kind == SONDE__EVENT_SCALAR;
    bool named = scalar && (element || row->type == SONDE__SETTING_CHOICE);
    bool quoted = scalar && !event->plain &&
                  (row->type == SONDE__SETTING_BOOL || row->type == SONDE__SETTING_INT);
    const char *verb = element ? "has" : "is";
    sonde__nearest near;
    sonde__nearest_init(&near, event->text, event->len);
    for (size_t i = 0; named && row->choices && row->choices[i]; i++)
        sonde__nearest_offer(&near, row->choices[i], strlen(row->choices[i]));
    if (near.best)
        return sonde__complain(reader->complaints, event->place, SONDE_EBADDATA,
                               "%s %s %s; did you mean \"%s\"?", row->key, verb,
                               what_is(event).text, near.best);
    return sonde__complain(reader->complaints, event->place, SONDE_EBADDATA,
                           "%s %s %s%s; expected %s", row->key, verb, what_is(event).text,
                           quoted ? " in quotes" : "", expected_of(row, element).text);
}

static bool is_choice(const sonde__setting *row, const sonde__event *event)
{
    for (size_t i = 0; row->choices[i]; i++) {
        if (strlen(row->choices[i]) == event->len &&
            memcmp(row->choices[i], event->text, event->len) == 0)
            return true;
    }
    return false;
}

/* Whether a scalar may be an element of a row's list; says so when it may not. */
static sonde_status check_element(const struct reader *reader, const sonde__setting *row,
                                  const sonde__value *list, const sonde__event *event)
{
    bool path = row->type == SONDE__SETTING_PATHS;
    if (event->kind != SONDE__EVENT_SCALAR)
        return refuse_value(reader, row, event, true);
    if (path ? event->len == 0 || event->text[0] != '/' : !is_choice(row, event))
        return refuse_value(reader, row, event, true);
    if (memchr(event->text, '\0', event->len))
        return sonde__complain(reader->complaints, event->place, SONDE_EBADDATA,
                               "%s has a path with a NUL in it; expected a path", row->key);
    if (path && event->len >= SONDE_PATH_BYTES)
        return sonde__complain(reader->complaints, event->place, SONDE_EBADDATA,
                               "%s has a path of %zu bytes; expected at most %d", row->key,
                               event->len, SONDE_PATH_BYTES - 1);
    if (path && list->count == SONDE_PATHS_MAX)
        return sonde__complain(reader->complaints, event->place, SONDE_EBADDATA,
                               "%s has more than %d paths; remove some", row->key,
                               (int)SONDE_PATHS_MAX);
    for (size_t i = 0; i < list->count; i++) {
        if (strlen(list->items[i]) == event->len &&
            memcmp(list->items[i], event->text, event->len) == 0)
            return sonde__complain(reader->complaints, event->place, SONDE_EBADDATA,
                                   "%s has %s twice; remove one", row->key,
                                   sonde__show(event->text, event->len).text);
    }
    return SONDE_OK;
}

static sonde_status out_of_memory(const struct reader *reader)
{
    return sonde__complain(reader->complaints, (sonde__place){0}, SONDE_ENOMEM, "out of memory");
}

static sonde_status read_list(struct reader *reader, const sonde__setting *row, sonde__place start,
                              sonde__value *list)
{
    for (;;) {
        sonde__event event;
        sonde_status status = sonde__events_next(&reader->events, &event);
        if (status != SONDE_OK)
            return status;
        if (event.kind == SONDE__EVENT_CLOSE)
            break;
        status = check_element(reader, row, list, &event);
        if (status != SONDE_OK)
            return status;
        if (sonde__value_add(list, event.text, event.len) != SONDE_OK)
            return out_of_memory(reader);
    }
    if (list->count == 0 && !(row->flags & SONDE__SETTING_NULLABLE))
        return sonde__complain(reader->complaints, start, SONDE_EBADDATA,
                               "%s is an empty list; expected %s", row->key,
                               expected_of(row, false).text);
    return SONDE_OK;
}

static sonde_status read_value(struct reader *reader, size_t index, const sonde__event *event)
{
    const sonde__setting *row = &sonde__settings_rows[index];
    sonde__value *value = &reader->settings->values[index];
    reader->mentioned[index] = true;
    sonde__value_clear(value);
    if (sonde__schema_is_list(row) && event->kind == SONDE__EVENT_LIST)
        return read_list(reader, row, event->place, value);
    if (row->type == SONDE__SETTING_ITEMS && event->kind == SONDE__EVENT_LIST)
        return sonde__items_read(&reader->events, reader->complaints, row, value);
    if (event->kind == SONDE__EVENT_SCALAR &&
        sonde__value_parse(row, event->text, event->len, event->plain, value))
        return SONDE_OK;
    return refuse_value(reader, row, event, false);
}

/* Refuses a name that was met before in its block. */
static sonde_status meet(const struct reader *reader, struct met *met, size_t slot,
                         const sonde__event *name)
{
    if (met->line[slot] > 0)
        return sonde__complain(reader->complaints, name->place, SONDE_EBADDATA,
                               "%s is given twice, first in line %zu; remove one",
                               sonde__show(name->text, name->len).text, met->line[slot]);
    met->line[slot] = name->place.line;
    return SONDE_OK;
}

static sonde_status read_block(struct reader *reader, sonde__block block,
                               const sonde__event *opened);

/* Reads one key (already in name) and its value. */
static sonde_status read_entry(struct reader *reader, sonde__block block, struct met *met,
                               const sonde__event *name)
{
    if (name->kind != SONDE__EVENT_SCALAR)
        return sonde__complain(reader->complaints, name->place, SONDE_EBADDATA,
                               "a key that is a list or a block; expected a name");
    size_t index = 0;
    sonde__block inner = top;
    sonde__found found = sonde__schema_find(block, name->text, name->len, &index, &inner);
    if (found == SONDE__FOUND_NONE)
        return refuse_key(reader, block, name);
    bool foreign = found == SONDE__FOUND_FOREIGN;
    sonde_status status = meet(reader, met, foreign ? SONDE__SETTINGS_ROWS + index : index, name);
    sonde__event value;
    if (status == SONDE_OK)
        status = sonde__events_next(&reader->events, &value);
    if (status != SONDE_OK)
        return status;
    if (found == SONDE__FOUND_ROW)
        return read_value(reader, index, &value);
    if (found == SONDE__FOUND_BLOCK)
        return read_block(reader, inner, &value);
    reader->settings->foreign[reader->settings->foreign_count++] = sonde__settings_foreign[index];
    return sonde__events_skip(&reader->events, &value);
}

/* Says that opened is not the keys of a block. */
static sonde_status refuse_block(const struct reader *reader, sonde__block block,
                                 const sonde__event *opened)
{
    bool empty = is_null(opened) || opened->kind == SONDE__EVENT_BLOCK;
    words name = {"the file"};
    if (block.len > 0)
        snprintf(name.text, sizeof name.text, "%.*s", (int)block.len - 1, block.key);
    return sonde__complain(reader->complaints, opened->place, SONDE_EBADDATA,
                           "%s is %s; expected a block of keys: %s%s", name.text,
                           empty ? "empty" : what_is(opened).text, children_of(block).text,
                           empty ? "; or leave it out for the defaults" : "");
}

/* An empty block below the top is refused: to Flowcept it is "all off", to others "the defaults".
 */
static sonde_status read_block(struct reader *reader, sonde__block block,
                               const sonde__event *opened)
{
    bool null = is_null(opened);
    if (opened->kind != SONDE__EVENT_BLOCK && !null)
        return refuse_block(reader, block, opened);
    struct met met = {{0}};
    size_t entries = 0;
    while (!null) {
        sonde__event name;
        sonde_status status = sonde__events_next(&reader->events, &name);
        if (status == SONDE_OK && name.kind == SONDE__EVENT_CLOSE)
            break;
        if (status == SONDE_OK)
            status = read_entry(reader, block, &met, &name);
        if (status != SONDE_OK)
            return status;
        entries++;
    }
    return entries > 0 || block.len == 0 ? SONDE_OK : refuse_block(reader, block, opened);
}

/* Flowcept's meaning of a type that is not mentioned: off, once another one is switched on. */
static void switch_off_unmentioned(struct reader *reader)
{
    sonde__value *values = reader->settings->values;
    bool selected = false;
    for (size_t i = 0; i < sonde__settings_row_count; i++) {
        bool selects = (sonde__settings_rows[i].flags & SONDE__SETTING_SELECTS) != 0;
        selected |= selects && reader->mentioned[i] && (values[i].number || values[i].count);
    }
    for (size_t i = 0; selected && i < sonde__settings_row_count; i++) {
        const sonde__setting *row = &sonde__settings_rows[i];
        if ((row->flags & SONDE__SETTING_SELECTS) && !reader->mentioned[i])
            sonde__value_clear(&values[i]);
    }
}

static sonde_status read_text(struct reader *reader)
{
    sonde__event event;
    sonde_status status = sonde__events_next(&reader->events, &event);
    if (status == SONDE_OK && event.kind != SONDE__EVENT_EXHAUSTED) {
        status = read_block(reader, top, &event);
        if (status == SONDE_OK)
            status = sonde__events_next(&reader->events, &event);
    }
    if (status == SONDE_OK) {
        switch_off_unmentioned(reader);
        sonde__settings_derive_capture(reader->settings);
    }
    return status;
}

sonde_status sonde_settings_parse(const char *text, size_t len, const char *name,
                                  sonde_settings **out, sonde_settings_error *error)
{
    const sonde__complaints complaints = {name, error};
    struct reader reader = {.complaints = &complaints};
    sonde_status status = sonde__events_open(&reader.events, text, len, &complaints);
    if (status != SONDE_OK)
        return status;
    reader.settings = sonde__settings_create();
    if (reader.settings)
        reader.settings->path = strdup(name);
    status = reader.settings && reader.settings->path ? read_text(&reader) : out_of_memory(&reader);
    sonde__events_close(&reader.events);
    if (status != SONDE_OK) {
        sonde_settings_free(reader.settings);
        return status;
    }
    *out = reader.settings;
    return SONDE_OK;
}
