/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml's event interface: it never builds a tree, so an alias bomb cannot grow and the limits
   hold while reading. Its marks count from 0 and in characters; its complaints about bytes carry an
   offset instead of a mark; its texts speak of tokens, so the usual ones are put in other words. */
#include "settings/settings_events.h"

#include <string.h>

static sonde__place place_of(yaml_mark_t mark)
{
    return (sonde__place){mark.line + 1, mark.column + 1};
}

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Line and column of a byte. A break is LF, CR or CR LF. */
static sonde__place place_of_offset(const char *text, size_t offset)
{
    sonde__place place = {1, 1};
    for (size_t i = 0; i < offset; i++) {
        bool crlf = text[i] == '\r' && i + 1 < offset && text[i + 1] == '\n';
        if ((text[i] == '\n' || text[i] == '\r') && !crlf)
            place = (sonde__place){place.line + 1, 1};
        else if (!continues(text[i]))
            place.column++;
    }
    return place;
}

/* The byte that starts the character a mark points at; NUL at the end. */
static char byte_at(const sonde__events *events, yaml_mark_t mark)
{
    size_t i = 0;
    for (size_t characters = 0; i < events->len; i++) {
        if (!continues(events->text[i]) && characters++ == mark.index)
            return events->text[i];
    }
    return '\0';
}

/* libyaml's own words, and what they mean to someone who wrote a settings file. */
typedef struct rewording {
    const char *problem;
    bool at_context; /* point at where the construct starts, not at where it was given up */
    const char *text;
} rewording;

static const rewording rewordings[] = {
    {"mapping values are not allowed in this context", false,
     "a \":\" cannot stand here; check the indentation, or put the value in quotes"},
    {"did not find expected key", false,
     "expected a key here; check the indentation against the lines above"},
    {"could not find expected ':'", true, "a key without a value; expected \"key: value\""},
    {"did not find expected ',' or ']'", true, "a list is not closed; expected \"]\""},
    {"did not find expected ',' or '}'", true, "a block is not closed; expected \"}\""},
    {"found unexpected end of stream", true, "a quoted text is not closed; expected a quote"},
    {"found unexpected document indicator", true, "a quoted text is not closed; expected a quote"},
    {"found character that cannot start any token", false,
     "this character cannot start a value; put the value in quotes"},
    {"did not find expected <document start>", false,
     "the file goes on after its end; expected one block of keys"},
};

static sonde_status refuse_bytes(const sonde__events *events, const char *problem)
{
    const yaml_parser_t *parser = &events->parser;
    size_t offset = parser->problem_offset < events->len ? parser->problem_offset : events->len;
    sonde__place place = place_of_offset(events->text, offset);
    if (strstr(problem, "control characters"))
        return sonde__complain(events->complaints, place, SONDE_EBADDATA,
                               "a control character (U+%04X); expected a text file",
                               (unsigned)parser->problem_value);
    return sonde__complain(events->complaints, place, SONDE_EBADDATA,
                           "a byte that is not UTF-8; save the file as UTF-8");
}

/* Says what libyaml did not like. */
static sonde_status refuse_syntax(const sonde__events *events)
{
    const yaml_parser_t *parser = &events->parser;
    sonde__place place = place_of(parser->problem_mark);
    const char *problem = parser->problem ? parser->problem : "unknown trouble";
    if (parser->error == YAML_MEMORY_ERROR)
        return sonde__complain(events->complaints, (sonde__place){0}, SONDE_ENOMEM,
                               "out of memory");
    if (parser->error == YAML_READER_ERROR)
        return refuse_bytes(events, problem);
    if (byte_at(events, parser->problem_mark) == '\t' || strstr(problem, "tab character"))
        return sonde__complain(events->complaints, place, SONDE_EBADDATA,
                               "a tab cannot indent YAML; use spaces");
    for (size_t i = 0; i < sizeof rewordings / sizeof rewordings[0]; i++) {
        if (strcmp(problem, rewordings[i].problem) != 0)
            continue;
        if (rewordings[i].at_context && parser->context)
            place = place_of(parser->context_mark);
        return sonde__complain(events->complaints, place, SONDE_EBADDATA, "%s", rewordings[i].text);
    }
    return sonde__complain(events->complaints, place, SONDE_EBADDATA, "not valid YAML: %s%s%s",
                           problem, parser->context ? ", " : "",
                           parser->context ? parser->context : "");
}

sonde_status sonde__events_open(sonde__events *events, const char *text, size_t len,
                                const sonde__complaints *complaints)
{
    const sonde__place start = {1, 1};
    if (len > SONDE__SETTINGS_FILE_BYTES)
        return sonde__complain(complaints, start, SONDE_ELIMIT,
                               "the file has more than %d bytes, too many for settings",
                               (int)SONDE__SETTINGS_FILE_BYTES);
    if (len >= 2 && (memcmp(text, "\xFE\xFF", 2) == 0 || memcmp(text, "\xFF\xFE", 2) == 0))
        return sonde__complain(complaints, start, SONDE_EBADDATA,
                               "the file is UTF-16; save it as UTF-8");
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        len -= 3;
    }
    *events = (sonde__events){.complaints = complaints, .text = text, .len = len};
    if (!yaml_parser_initialize(&events->parser))
        return sonde__complain(complaints, (sonde__place){0}, SONDE_ENOMEM, "out of memory");
    yaml_parser_set_encoding(&events->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&events->parser, (const unsigned char *)(len ? text : ""), len);
    return SONDE_OK;
}

void sonde__events_close(sonde__events *events)
{
    yaml_event_delete(&events->current);
    yaml_parser_delete(&events->parser);
}

/* Counts a node and refuses what is attached to it. */
static sonde_status admit_node(sonde__events *events, sonde__place place, const yaml_char_t *anchor,
                               const yaml_char_t *tag)
{
    if (anchor)
        return sonde__complain(events->complaints, place, SONDE_EBADDATA,
                               "anchors (&) are not accepted; write the value out");
    if (tag)
        return sonde__complain(events->complaints, place, SONDE_EBADDATA,
                               "tags (!) are not accepted; remove it");
    if (++events->nodes > SONDE__SETTINGS_NODES)
        return sonde__complain(events->complaints, place, SONDE_ELIMIT,
                               "more than %d keys and values, too many for settings",
                               (int)SONDE__SETTINGS_NODES);
    return SONDE_OK;
}

static sonde_status open_collection(sonde__events *events, sonde__place place,
                                    const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (++events->depth > SONDE__SETTINGS_DEPTH)
        return sonde__complain(events->complaints, place, SONDE_ELIMIT,
                               "nested deeper than %d levels, too deep for settings",
                               (int)SONDE__SETTINGS_DEPTH);
    return admit_node(events, place, anchor, tag);
}

/* Turns the current event into *out; *skip when it is one that readers need not see. */
static sonde_status translate(sonde__events *events, sonde__event *out, bool *skip)
{
    const yaml_event_t *event = &events->current;
    *out = (sonde__event){.place = place_of(event->start_mark)};
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        out->kind = SONDE__EVENT_SCALAR;
        out->text = (const char *)event->data.scalar.value;
        out->len = event->data.scalar.length;
        out->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return admit_node(events, out->place, event->data.scalar.anchor, event->data.scalar.tag);
    case YAML_SEQUENCE_START_EVENT:
        out->kind = SONDE__EVENT_LIST;
        return open_collection(events, out->place, event->data.sequence_start.anchor,
                               event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        out->kind = SONDE__EVENT_BLOCK;
        return open_collection(events, out->place, event->data.mapping_start.anchor,
                               event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        out->kind = SONDE__EVENT_CLOSE;
        events->depth--;
        return SONDE_OK;
    case YAML_STREAM_END_EVENT:
        out->kind = SONDE__EVENT_EXHAUSTED;
        return SONDE_OK;
    case YAML_ALIAS_EVENT:
        return sonde__complain(events->complaints, out->place, SONDE_EBADDATA,
                               "aliases (*) are not accepted; write the value out");
    case YAML_DOCUMENT_START_EVENT:
        *skip = true;
        return ++events->documents == 1
                   ? SONDE_OK
                   : sonde__complain(events->complaints, out->place, SONDE_EBADDATA,
                                     "a second document starts; a settings file is one");
    default:
        *skip = true;
        return SONDE_OK;
    }
}

sonde_status sonde__events_next(sonde__events *events, sonde__event *out)
{
    for (;;) {
        bool skip = false;
        yaml_event_delete(&events->current);
        if (!yaml_parser_parse(&events->parser, &events->current))
            return refuse_syntax(events);
        sonde_status status = translate(events, out, &skip);
        if (status != SONDE_OK || !skip)
            return status;
    }
}

sonde_status sonde__events_skip(sonde__events *events, const sonde__event *opened)
{
    if (opened->kind == SONDE__EVENT_SCALAR)
        return SONDE_OK;
    size_t outside = events->depth - 1;
    sonde__event event;
    sonde_status status = SONDE_OK;
    while (status == SONDE_OK && events->depth > outside)
        status = sonde__events_next(events, &event);
    return status;
}
