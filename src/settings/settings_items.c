/* SPDX-License-Identifier: Apache-2.0 */
/* Fields are kept as text, NULL where not given: what they mean is for those who use them. Each is
   checked here against its row; whether the whole makes sense, where the attributes are made. */
#include "settings/settings_items.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 63, DEFAULT_BYTES = 4096 };

static const char *const types[] = {"string", "boolean", "integer", "list", NULL};

/* clang-format off */
const sonde__setting sonde__item_fields[SONDE__SETTINGS_ITEM_FIELDS] = {
    {"name", SONDE__SETTING_TEXT, 0, NULL, NULL, 1, NAME_BYTES,
     "In metric names and labels"},
    {"raw_key", SONDE__SETTING_TEXT, 0, "", NULL, 1, NAME_BYTES,
     "In records; the name when not given"},
    {"type", SONDE__SETTING_CHOICE, 0, "string", types, 0, 0,
     "Only strings are sanitised"},
    {"default", SONDE__SETTING_TEXT, 0, "", NULL, 0, DEFAULT_BYTES,
     "For records that have no such key; a list for lists"},
    {"metric_order", SONDE__SETTING_INT, 0, "100", NULL, 0, 1000000,
     "Place in the comprehensive name; the status stands at 4"},
    {"include_in_comprehensive", SONDE__SETTING_BOOL, 0, "true", NULL, 0, 0,
     "Part of the comprehensive name"},
};
/* clang-format on */

enum { FIELD_NAME = 0, FIELD_DEFAULT = 3 };

typedef struct reading {
    sonde__events *events;
    const sonde__complaints *complaints;
    const sonde__setting *row;
} reading;

static sonde_status out_of_memory(const reading *from)
{
    return sonde__complain(from->complaints, (sonde__place){0}, SONDE_ENOMEM, "out of memory");
}

static int find_field(const sonde__event *name)
{
    for (int i = 0; sonde__item_names[i]; i++) {
        if (strlen(sonde__item_names[i]) == name->len &&
            memcmp(sonde__item_names[i], name->text, name->len) == 0)
            return i;
    }
    return -1;
}

static sonde_status refuse_field(const reading *from, const sonde__event *name)
{
    sonde__nearest near;
    sonde__nearest_init(&near, name->text, name->len);
    for (size_t i = 0; sonde__item_names[i]; i++)
        sonde__nearest_offer(&near, sonde__item_names[i], strlen(sonde__item_names[i]));
    sonde__shown shown = sonde__show(name->text, name->len);
    if (near.best)
        return sonde__complain(from->complaints, name->place, SONDE_EBADDATA,
                               "unknown key %s in %s; did you mean \"%s\"?", shown.text,
                               from->row->key, near.best);
    return sonde__complain(from->complaints, name->place, SONDE_EBADDATA,
                           "unknown key %s in %s; expected name, raw_key, type, default, "
                           "metric_order or include_in_comprehensive",
                           shown.text, from->row->key);
}

static sonde_status refuse_value(const reading *from, const sonde__setting *field,
                                 const sonde__event *value)
{
    char expected[256];
    sonde__buf buf;
    sonde__buf_init_fixed(&buf, expected, sizeof expected - 1);
    sonde__schema_expected(field, &buf);
    expected[buf.len] = '\0';
    bool scalar = value->kind == SONDE__EVENT_SCALAR;
    return sonde__complain(from->complaints, value->place, SONDE_EBADDATA,
                           "%s of %s is %s; expected %s", field->key, from->row->key,
                           scalar ? sonde__show(value->text, value->len).text
                           : value->kind == SONDE__EVENT_LIST ? "a list"
                                                              : "a block",
                           expected);
}

/* A list of defaults, joined with commas as the attribute table wants it. */
static sonde_status read_joined(const reading *from, const sonde__setting *field, sonde__buf *out)
{
    for (;;) {
        sonde__event item;
        sonde_status status = sonde__events_next(from->events, &item);
        if (status != SONDE_OK || item.kind == SONDE__EVENT_CLOSE)
            return status;
        if (item.kind != SONDE__EVENT_SCALAR || memchr(item.text, ',', item.len) ||
            memchr(item.text, '\0', item.len))
            return refuse_value(from, field, &item);
        if (out->len > 0)
            sonde__buf_char(out, ',');
        sonde__buf_append(out, item.text, item.len);
    }
}

static bool is_good(const sonde__setting *field, const sonde__event *value)
{
    sonde__value parsed;
    if (value->kind != SONDE__EVENT_SCALAR || memchr(value->text, '\0', value->len))
        return false;
    return sonde__value_parse(field, value->text, value->len, value->plain, &parsed);
}

static sonde_status read_field(const reading *from, int index, char **to)
{
    const sonde__setting *field = &sonde__item_fields[index];
    sonde__event value;
    sonde_status status = sonde__events_next(from->events, &value);
    if (status != SONDE_OK)
        return status;
    sonde__buf text;
    sonde__buf_init(&text, SONDE__SETTINGS_FILE_BYTES);
    if (index == FIELD_DEFAULT && value.kind == SONDE__EVENT_LIST)
        status = read_joined(from, field, &text);
    else if (is_good(field, &value))
        sonde__buf_append(&text, value.text, value.len);
    else
        status = refuse_value(from, field, &value);
    sonde__buf_char(&text, '\0');
    if (status == SONDE_OK && text.status != SONDE_OK)
        status = out_of_memory(from);
    if (status != SONDE_OK) {
        sonde__buf_free(&text);
        return status;
    }
    *to = text.data;
    return SONDE_OK;
}

static sonde_status read_block(const reading *from, const sonde__event *opened, sonde__item *block)
{
    for (;;) {
        sonde__event name;
        sonde_status status = sonde__events_next(from->events, &name);
        if (status != SONDE_OK)
            return status;
        if (name.kind == SONDE__EVENT_CLOSE)
            break;
        int index = name.kind == SONDE__EVENT_SCALAR ? find_field(&name) : -1;
        if (index < 0)
            return name.kind == SONDE__EVENT_SCALAR
                       ? refuse_field(from, &name)
                       : sonde__complain(from->complaints, name.place, SONDE_EBADDATA,
                                         "a key that is a list or a block; expected a name");
        if (block->field[index])
            return sonde__complain(from->complaints, name.place, SONDE_EBADDATA,
                                   "\"%s\" is given twice; remove one", sonde__item_names[index]);
        status = read_field(from, index, &block->field[index]);
        if (status != SONDE_OK)
            return status;
    }
    if (!block->field[FIELD_NAME])
        return sonde__complain(from->complaints, opened->place, SONDE_EBADDATA,
                               "%s has an element without a name; add name: ...", from->row->key);
    return SONDE_OK;
}

static sonde__item *add_block(sonde__value *value)
{
    sonde__item *blocks = realloc(value->blocks, (value->block_count + 1) * sizeof *blocks);
    if (!blocks)
        return NULL;
    value->blocks = blocks;
    blocks[value->block_count] = (sonde__item){.place = {0}};
    value->null = false;
    return &blocks[value->block_count++];
}

sonde_status sonde__items_read(sonde__events *events, const sonde__complaints *complaints,
                               const sonde__setting *row, sonde__value *value)
{
    const reading from = {events, complaints, row};
    for (;;) {
        sonde__event event;
        sonde_status status = sonde__events_next(events, &event);
        if (status != SONDE_OK || event.kind == SONDE__EVENT_CLOSE)
            return status;
        if (event.kind != SONDE__EVENT_BLOCK)
            return sonde__complain(complaints, event.place, SONDE_EBADDATA,
                                   "%s has an element that is no block; expected name: ..., "
                                   "type: ... and so on",
                                   row->key);
        if (value->block_count == SONDE__SETTINGS_ITEMS)
            return sonde__complain(complaints, event.place, SONDE_EBADDATA,
                                   "%s has more than %d elements; remove some", row->key,
                                   (int)SONDE__SETTINGS_ITEMS);
        sonde__item *block = add_block(value);
        if (!block)
            return out_of_memory(&from);
        block->place = event.place;
        status = read_block(&from, &event, block);
        if (status != SONDE_OK)
            return status;
    }
}

void sonde__items_free(sonde__value *value)
{
    for (size_t i = 0; i < value->block_count; i++) {
        for (size_t field = 0; field < SONDE__SETTINGS_ITEM_FIELDS; field++)
            free(value->blocks[i].field[field]);
    }
    free(value->blocks);
}

void sonde__items_write(const sonde__value *value, size_t depth, sonde__buf *out)
{
    for (size_t i = 0; i < value->block_count; i++) {
        const char *dash = "- ";
        for (size_t field = 0; field < SONDE__SETTINGS_ITEM_FIELDS; field++) {
            const char *text = value->blocks[i].field[field];
            if (!text)
                continue;
            sonde__buf_printf(out, "\n%*s%s%s: ", (int)depth, "", dash, sonde__item_names[field]);
            if (sonde__item_fields[field].type == SONDE__SETTING_TEXT)
                sonde__yaml_quoted(text, out);
            else
                sonde__buf_text(out, text);
            dash = "  ";
        }
    }
}
