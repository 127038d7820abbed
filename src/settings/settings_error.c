/* SPDX-License-Identifier: Apache-2.0 */
/* What a message quotes comes from a file that may be hostile, and goes to a terminal: no byte of
   it reaches the line unless it is printable. C1 controls (U+0080 to U+009F) count as controls,
   since some terminals obey them. */
#include "settings/settings_error.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ESCAPE_BYTES = 8 };

/* The next character of text in printable form; returns how many bytes of text it took. */
static size_t show_character(const char *text, size_t len, char out[ESCAPE_BYTES])
{
    unsigned char byte = (unsigned char)text[0];
    size_t size = sonde__utf8_sequence(text, len);
    bool c1 = size == 2 && byte == 0xC2 && (unsigned char)text[1] < 0xA0;
    if (size == 0 || byte < 0x20 || byte == 0x7F)
        snprintf(out, ESCAPE_BYTES, "\\x%02X", byte);
    else if (c1)
        snprintf(out, ESCAPE_BYTES, "\\u00%02X", (unsigned char)text[1]);
    else if (byte == '"' || byte == '\\')
        snprintf(out, ESCAPE_BYTES, "\\%c", byte);
    else
        snprintf(out, ESCAPE_BYTES, "%.*s", (int)size, text);
    return size ? size : 1;
}

sonde__shown sonde__show(const char *text, size_t len)
{
    sonde__shown shown;
    sonde__buf buf;
    sonde__buf_init_fixed(&buf, shown.text, sizeof shown.text);
    sonde__buf_char(&buf, '"');
    size_t at = 0;
    while (at < len && buf.len < SONDE__SETTINGS_SHOWN_BYTES) {
        char character[ESCAPE_BYTES];
        at += show_character(text + at, len - at, character);
        sonde__buf_text(&buf, character);
    }
    sonde__buf_append(&buf, at < len ? "...\"" : "\"", at < len ? sizeof "...\"" : sizeof "\"");
    return shown;
}

/* The file's name, its end when it is long. Quotes need no escape here: nothing surrounds it. */
static void write_name(sonde__buf *buf, const char *name)
{
    size_t len = strlen(name);
    size_t at = len > SONDE__SETTINGS_NAME_BYTES ? len - SONDE__SETTINGS_NAME_BYTES : 0;
    if (at > 0)
        sonde__buf_text(buf, "...");
    while (at > 0 && ((unsigned char)name[at] & 0xC0) == 0x80)
        at++;
    while (at < len) {
        char character[ESCAPE_BYTES];
        bool plain = name[at] == '"' || name[at] == '\\';
        size_t size = show_character(name + at, len - at, character);
        sonde__buf_text(buf, plain ? character + 1 : character);
        at += size;
    }
}

/* Cuts text to fit in size bytes, at a character's start, with dots for what is gone. */
static void copy_cut(char *out, size_t size, const char *text)
{
    size_t len = strlen(text);
    if (len < size) {
        memcpy(out, text, len + 1);
        return;
    }
    size_t keep = size - sizeof "...";
    while (keep > 0 && ((unsigned char)text[keep] & 0xC0) == 0x80)
        keep--;
    memcpy(out, text, keep);
    memcpy(out + keep, "...", sizeof "...");
}

sonde_status sonde__complain(const sonde__complaints *to, sonde__place place, sonde_status status,
                             const char *format, ...)
{
    if (!to->error)
        return status;
    char line[4 * sizeof to->error->text];
    sonde__buf buf;
    sonde__buf_init_fixed(&buf, line, sizeof line);
    write_name(&buf, to->name);
    if (place.line > 0)
        sonde__buf_printf(&buf, ":%zu:%zu", place.line, place.column);
    sonde__buf_text(&buf, ": ");
    va_list args;
    va_start(args, format);
    vsnprintf(line + buf.len, sizeof line - buf.len, format, args);
    va_end(args);
    copy_cut(to->error->text, sizeof to->error->text, line);
    return status;
}
