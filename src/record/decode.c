/* SPDX-License-Identifier: Apache-2.0 */
#include "record/decode.h"

#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

enum { HAS_ATTRS = 0x10, KIND_MASK = 0x0f };

static bool add_string(sonde__decoder *decoder, sonde__slice slice)
{
    if (decoder->string_count == decoder->string_cap) {
        size_t cap = decoder->string_cap ? decoder->string_cap * 2 : 64;
        sonde__slice *grown = realloc(decoder->strings, cap * sizeof *grown);
        if (!grown)
            return false;
        decoder->strings = grown;
        decoder->string_cap = cap;
    }
    decoder->strings[decoder->string_count++] = slice;
    return true;
}

static sonde_status read_strings(sonde__decoder *decoder, const uint8_t *at, const uint8_t *end)
{
    decoder->string_count = 0;
    if (!add_string(decoder, (sonde__slice){"", 0}))
        return SONDE_ENOMEM;
    while (at < end) {
        uint64_t len;
        if (!sonde__varint_get(&at, end, &len) || len > (uint64_t)(end - at))
            return SONDE_EBADDATA;
        if (!add_string(decoder, (sonde__slice){(const char *)at, (size_t)len}))
            return SONDE_ENOMEM;
        at += len;
    }
    return SONDE_OK;
}

sonde_status sonde__decoder_start(sonde__decoder *decoder, const uint8_t *frame)
{
    memcpy(&decoder->header, frame, sizeof decoder->header);
    const sonde__frame_header *header = &decoder->header;
    decoder->left = 0; /* a frame that cannot be started has no records */
    if (header->version != SONDE__FRAME_VERSION || header->type != SONDE__FRAME_RECORDS)
        return SONDE_EUNSUPPORTED;
    const uint8_t *strings = NULL;
    sonde_status status = sonde__frame_body(frame, &decoder->room, &strings, &decoder->end);
    if (status != SONDE_OK)
        return status;
    decoder->at = strings + header->string_bytes;
    decoder->seq = header->first_seq;
    decoder->prev_number = 0;
    decoder->prev_end = 0;
    status = read_strings(decoder, strings, decoder->at);
    if (status == SONDE_OK)
        decoder->left = header->records;
    return status;
}

void sonde__decoder_free(sonde__decoder *decoder)
{
    sonde__unpacked_free(&decoder->room);
    free(decoder->strings);
    decoder->strings = NULL;
    decoder->string_cap = 0;
}

static sonde__slice string_of(const sonde__decoder *decoder, uint64_t local)
{
    return decoder->strings[local < decoder->string_count ? local : 0];
}

static bool get_fixed64(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    if (end - *at < 8)
        return false;
    memcpy(out, *at, 8);
    *at += 8;
    return true;
}

static bool get_attrs(sonde__decoder *decoder, sonde__entry *out)
{
    uint32_t len;
    if ((size_t)(decoder->end - decoder->at) < sizeof len)
        return false;
    memcpy(&len, decoder->at, sizeof len);
    decoder->at += sizeof len;
    if (len > (size_t)(decoder->end - decoder->at))
        return false;
    out->attrs = decoder->at;
    out->attrs_len = len;
    decoder->at += len;
    return true;
}

static bool get_task(sonde__decoder *decoder, sonde__entry *out)
{
    const uint8_t *end = decoder->end;
    const uint8_t **at = &decoder->at;
    uint64_t name;
    uint64_t number;
    uint64_t value;
    if (!sonde__varint_get(at, end, &name) || !sonde__varint_get(at, end, &number))
        return false;
    out->name = string_of(decoder, name);
    out->number = decoder->prev_number + 1 + (uint64_t)sonde__unzigzag(number);
    unsigned parent = out->flags & SONDE__PARENT_MASK;
    if (parent == SONDE__PARENT_LANE) {
        if (!sonde__varint_get(at, end, &value))
            return false;
        out->parent = out->number - (uint64_t)sonde__unzigzag(value);
    } else if (parent == SONDE__PARENT_SPAN && !get_fixed64(at, end, &out->parent)) {
        return false;
    }
    if (!sonde__varint_get(at, end, &value))
        return false;
    out->end = decoder->prev_end + (uint64_t)sonde__unzigzag(value);
    if (!sonde__varint_get(at, end, &value))
        return false;
    out->start = out->end - value;
    if (out->number)
        decoder->prev_number = out->number;
    decoder->prev_end = out->end;
    return true;
}

bool sonde__decoder_next(sonde__decoder *decoder, sonde__entry *out)
{
    if (decoder->left == 0 || decoder->end - decoder->at < 2)
        return false;
    *out = (sonde__entry){.attrs = decoder->at}; /* none, but never NULL */
    unsigned first = *decoder->at++;
    out->kind = first & KIND_MASK;
    out->flags = *decoder->at++;
    out->seq = decoder->seq;
    out->count = 1;
    bool good = true;
    switch (out->kind) {
    case SONDE__KIND_LOSS:
        good = sonde__varint_get(&decoder->at, decoder->end, &out->count) &&
               sonde__varint_get(&decoder->at, decoder->end, &out->parent);
        break;
    case SONDE__KIND_TASK:
    case SONDE__KIND_SUBMIT:
    case SONDE__KIND_ATTRS:
    case SONDE__KIND_OPEN:
    case SONDE__KIND_TELEMETRY:
        good = get_task(decoder, out);
        break;
    case SONDE__KIND_RUN_BEGIN:
    case SONDE__KIND_RUN_END:
        break;
    default:
        good = false;
    }
    if (good && (first & HAS_ATTRS))
        good = get_attrs(decoder, out);
    if (!good) {
        decoder->left = 0;
        return false;
    }
    if (out->kind >= SONDE__KIND_OPEN && out->kind != SONDE__KIND_TELEMETRY)
        out->count = 0;
    decoder->seq += out->count;
    decoder->left--;
    return true;
}

static bool get_slice(const uint8_t **at, const uint8_t *end, const char **data, size_t *len)
{
    uint64_t n;
    if (!sonde__varint_get(at, end, &n) || n > (uint64_t)(end - *at))
        return false;
    *data = (const char *)*at;
    *len = (size_t)n;
    *at += n;
    return true;
}

static bool get_text(const uint8_t **at, const uint8_t *end, bool cut, sonde_attr *out)
{
    uint64_t full = 0;
    if (cut && !sonde__varint_get(at, end, &full))
        return false;
    if (!get_slice(at, end, &out->value.s.data, &out->value.s.len))
        return false;
    out->value.s.full_len = cut && full > out->value.s.len ? (size_t)full : out->value.s.len;
    return true;
}

static bool get_value(const sonde__decoder *decoder, const uint8_t **at, const uint8_t *end,
                      bool cut, sonde__decoded_attr *out)
{
    uint64_t word = 0;
    switch (out->type) {
    case SONDE_ATTR_INT:
        if (!sonde__varint_get(at, end, &word))
            return false;
        out->attr.value.i = sonde__unzigzag(word);
        return true;
    case SONDE_ATTR_UINT:
        return sonde__varint_get(at, end, &out->attr.value.u);
    case SONDE_ATTR_BOOL:
        if (!sonde__varint_get(at, end, &word))
            return false;
        out->attr.value.b = word != 0;
        return true;
    case SONDE_ATTR_DOUBLE:
        if (!get_fixed64(at, end, &word))
            return false;
        memcpy(&out->attr.value.d, &word, sizeof word);
        return true;
    case SONDE__TYPE_TICKS:
        return sonde__varint_get(at, end, &out->mono_ns);
    case SONDE__TYPE_EVENT:
        if (!sonde__varint_get(at, end, &out->mono_ns) || !sonde__varint_get(at, end, &word))
            return false;
        out->name = string_of(decoder, word);
        return get_text(at, end, false, &out->attr);
    default:
        return get_text(at, end, cut, &out->attr);
    }
}

bool sonde__decode_attr(const sonde__decoder *decoder, const uint8_t **at, const uint8_t *end,
                        sonde__decoded_attr *out)
{
    if (*at >= end)
        return false;
    unsigned first = *(*at)++;
    unsigned group = first >> 4 & 3;
    uint64_t key;
    *out = (sonde__decoded_attr){.type = first & 15};
    if (!sonde__varint_get(at, end, &key))
        return false;
    if (group == SONDE__GROUP_SYSTEM) {
        out->system = key > 0 && key < UINT32_MAX ? (unsigned)key : UINT32_MAX;
    } else {
        sonde__slice name = string_of(decoder, key);
        out->attr.key = name.text;
        out->attr.key_len = name.len;
        out->attr.group = (sonde_group)group;
    }
    out->attr.type = out->type >= SONDE_ATTR_INT && out->type <= SONDE_ATTR_JSON
                         ? (sonde_attr_type)out->type
                         : SONDE_ATTR_BYTES;
    return get_value(decoder, at, end, (first & SONDE__TYPE_CUT) != 0, out);
}
