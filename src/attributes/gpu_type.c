/* SPDX-License-Identifier: Apache-2.0 */
/* The rules and the list are the original's, quirks included ("RTX PRO 6000" is RTXPRO, whatever
   contains L4 is an L4): names must come out the same. Upper case follows Unicode for the Latin,
   Greek and Cyrillic letters; other scripts stay as they are. */
#include "attributes/gpu_type.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct part {
    const char *text;
    size_t len;
} part;

static const char *const priority[] = {
    "RTX5090",    "RTX5080",    "RTX5070",  "RTX5060",  "RTX5050", "RTX6000",    "RTX5000",
    "RTX4500",    "RTX4000",    "RTX2000",  "T5000",    "T4000",   "GB300",      "B300",
    "GB200",      "B200",       "GH200",    "H200",     "H100",    "L40S",       "L40",
    "L4",         "RTX4090",    "RTX4080",  "RTX4070",  "RTX4060", "RTX4050",    "RTXA6000",
    "RTXA5000",   "RTXA4500",   "RTXA4000", "RTXA2000", "ORIN",    "A40",        "A16",
    "A10",        "A2",         "RTX3090",  "RTX3080",  "RTX3070", "RTX3060",    "RTX3050",
    "A100",       "A30",        "T4",       "T2000",    "T1200",   "T1000",      "T600",
    "T500",       "T400",       "RTX2080",  "RTX2070",  "RTX2060", "QUADRO8000", "QUADRO6000",
    "QUADRO5000", "QUADRO4000", "V100",     "TITAN",    "P100",    "P40",        "P6",
    "P4",         "GTX1080",    "GTX1070",  "GTX1060",  "GTX1050", "K80",        "K40",
    "K20",        "M60",        "M40",
};

unsigned sonde__gpu_rank(const char *type, size_t len)
{
    for (unsigned i = 0; i < sizeof priority / sizeof priority[0]; i++) {
        if (strlen(priority[i]) == len && memcmp(priority[i], type, len) == 0)
            return i;
    }
    return SONDE__GPU_UNRANKED;
}

static uint32_t upper_code(uint32_t c)
{
    if ((c >= 0xE0 && c <= 0xFE && c != 0xF7) || (c >= 0x3B1 && c <= 0x3C9 && c != 0x3C2) ||
        (c >= 0x430 && c <= 0x44F))
        return c - 0x20;
    if (c == 0xB5 || c == 0x3C2)
        return c == 0xB5 ? 0x39C : 0x3A3;
    if (c == 0xFF)
        return 0x178;
    if (c >= 0x450 && c <= 0x45F)
        return c - 0x50;
    bool odd_is_lower = (c >= 0x100 && c <= 0x137 && c != 0x131) || (c >= 0x14A && c <= 0x177);
    bool even_is_lower = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
    if ((odd_is_lower && c % 2 == 1) || (even_is_lower && c % 2 == 0))
        return c - 1;
    return c == 0x131 ? 'I' : c == 0x17F ? 'S' : c;
}

/* Two-byte code points in upper case are of two bytes or less. */
static size_t upper_two_bytes(const char *text, char *out)
{
    uint32_t code = ((uint32_t)text[0] & 0x1Fu) << 6 | ((uint32_t)text[1] & 0x3Fu);
    if (code == 0xDF) {
        out[0] = out[1] = 'S';
        return 2;
    }
    return sonde__utf8_encode(upper_code(code), out);
}

/* Upper case, space and dash to underscore. */
static size_t normalize(const char *name, size_t len, char *out)
{
    size_t written = 0;
    for (size_t at = 0, size; at < len; at += size) {
        unsigned char c = (unsigned char)name[at];
        size = c < 0x80 ? 1 : sonde__utf8_sequence(name + at, len - at);
        size = size ? size : 1;
        if (c < 0x80) {
            out[written++] = (char)(c == ' ' || c == '-' ? '_' : toupper(c));
        } else if (size == 2) {
            written += upper_two_bytes(name + at, out + written);
        } else {
            memcpy(out + written, name + at, size);
            written += size;
        }
    }
    return written;
}

static bool contains(const char *text, size_t len, const char *word)
{
    return memmem(text, len, word, strlen(word)) != NULL;
}

static bool is_one_of(part what, const char *const *words)
{
    for (; *words; words++) {
        if (strlen(*words) == what.len && memcmp(*words, what.text, what.len) == 0)
            return true;
    }
    return false;
}

/* The part between underscores that begins at *at; moves *at behind it. False: no more. */
static bool next_part(const char *text, size_t len, size_t *at, part *out)
{
    if (*at > len)
        return false;
    const char *end = memchr(text + *at, '_', len - *at);
    *out = (part){text + *at, end ? (size_t)(end - text) - *at : len - *at};
    *at += out->len + 1;
    return true;
}

static bool has_digit(part what)
{
    for (size_t i = 0; i < what.len; i++) {
        if (isdigit((unsigned char)what.text[i]))
            return true;
    }
    return false;
}

static bool has_letter(part what)
{
    for (size_t i = 0; i < what.len; i++) {
        unsigned char c = (unsigned char)what.text[i];
        if (c >= 0x80 || isalpha(c))
            return true;
    }
    return false;
}

/* Removes every occurrence of word; returns the new length. */
static size_t remove_word(char *text, size_t len, const char *word)
{
    size_t word_len = strlen(word);
    size_t from = 0;
    char *found;
    while ((found = memmem(text + from, len - from, word, word_len)) != NULL) {
        from = (size_t)(found - text);
        memmove(found, found + word_len, len - from - word_len);
        len -= word_len;
    }
    return len;
}

static part word_part(const char *word)
{
    return (part){word, strlen(word)};
}

/* RTX and what follows it, into out, which must not be text. 0: no such part. */
static size_t rtx_type(const char *text, size_t len, char *out)
{
    part this;
    part next;
    for (size_t at = 0; next_part(text, len, &at, &this);) {
        size_t behind = at;
        if (this.len == 3 && memcmp(this.text, "RTX", 3) == 0 &&
            next_part(text, len, &behind, &next)) {
            memcpy(out, this.text, this.len);
            memcpy(out + 3, next.text, next.len);
            size_t model = remove_word(out + 3, next.len, "TI");
            return 3 + remove_word(out + 3, model, "ADA");
        }
    }
    return 0;
}

static part jetson_type(const char *text, size_t len)
{
    part this;
    for (size_t at = 0; next_part(text, len, &at, &this);) {
        if (this.len > 0 && this.text[0] == 'T' && has_digit(this))
            return this;
    }
    if (contains(text, len, "THOR"))
        return word_part("THOR");
    return contains(text, len, "ORIN") ? word_part("ORIN") : (part){NULL, 0};
}

/* A part with letters and digits, else the first that is no brand. */
static part plain_type(const char *text, size_t len)
{
    static const char *const series[] = {"NVIDIA", "GEFORCE", "QUADRO", "TESLA",
                                         "JETSON", "TITAN",   NULL};
    static const char *const brands[] = {"NVIDIA", "GEFORCE", "QUADRO", "TESLA", NULL};
    part this;
    for (size_t at = 0; next_part(text, len, &at, &this);) {
        if (!is_one_of(this, series) && has_digit(this) && has_letter(this))
            return this;
    }
    for (size_t at = 0; next_part(text, len, &at, &this);) {
        if (this.len > 0 && !is_one_of(this, brands))
            return this;
    }
    return (part){NULL, 0};
}

static part known_model(const char *text, size_t len, const char *const *models)
{
    for (; *models; models++) {
        if (contains(text, len, *models))
            return word_part(*models);
    }
    return (part){NULL, 0};
}

static part type_of(const char *text, size_t len)
{
    static const char *const small[] = {"L40S", "L40", "L4", NULL};
    part found = {NULL, 0};
    if (contains(text, len, "JETSON") || contains(text, len, "THOR") || contains(text, len, "ORIN"))
        found = jetson_type(text, len);
    if (!found.text)
        found = known_model(text, len, small);
    return found.text ? found : plain_type(text, len);
}

size_t sonde__gpu_type(const char *name, size_t len, char *out)
{
    static const char *const large[] = {"SPARK", "GB300", "GB200", "GB100", "GH200", "GH100",
                                        "B300",  "B200",  "B100",  "H200",  "H100",  NULL};
    size_t size = normalize(name, len, out);
    part found = known_model(out, size, large);
    if (!found.text) {
        char *rtx = out + size;
        size_t rtx_len = contains(out, size, "RTX") ? rtx_type(out, size, rtx) : 0;
        found = rtx_len ? (part){rtx, rtx_len} : type_of(out, size);
    }
    if (!found.text) {
        size = remove_word(out, size, "NVIDIA_");
        return remove_word(out, size, "GEFORCE_");
    }
    memmove(out, found.text, found.len);
    return found.len;
}
