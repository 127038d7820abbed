/* SPDX-License-Identifier: Apache-2.0 */
/* The functions used are of zstd's stable interface, the same since 1.0. */
#include "record/frame_pack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN_LEAST = 512 }; /* shorter bodies hardly shrink */

static struct {
    pthread_once_t once;
    bool here;
    size_t (*bound)(size_t bytes);
    unsigned (*is_error)(size_t code);
    void *(*create)(void);
    size_t (*destroy)(void *context);
    size_t (*compress)(void *context, void *to, size_t room, const void *from, size_t bytes,
                       int level);
    size_t (*decompress)(void *to, size_t room, const void *from, size_t bytes);
} zstd = {.once = PTHREAD_ONCE_INIT};

/* A function by name; POSIX promises that a symbol's address fits into a function pointer. */
static bool find(void *library, const char *name, void *place)
{
    void *symbol = dlsym(library, name);
    memcpy(place, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void load(void)
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    zstd.here = find(library, "ZSTD_compressBound", &zstd.bound) &&
                find(library, "ZSTD_isError", &zstd.is_error) &&
                find(library, "ZSTD_createCCtx", &zstd.create) &&
                find(library, "ZSTD_freeCCtx", &zstd.destroy) &&
                find(library, "ZSTD_compressCCtx", &zstd.compress) &&
                find(library, "ZSTD_decompress", &zstd.decompress);
    if (!zstd.here)
        dlclose(library);
}

bool sonde__zstd_here(void)
{
    pthread_once(&zstd.once, load);
    return zstd.here;
}

sonde_status sonde__packer_init(sonde__packer *packer, int level)
{
    *packer = (sonde__packer){0};
    if (!sonde__zstd_here())
        return SONDE_EABSENT;
    packer->level = level;
    packer->context = zstd.create();
    packer->room = malloc(SONDE__FRAME_BYTES_MAX + zstd.bound(SONDE__FRAME_BYTES_MAX));
    if (packer->context && packer->room)
        return SONDE_OK;
    sonde__packer_free(packer);
    return SONDE_ENOMEM;
}

void sonde__packer_free(sonde__packer *packer)
{
    if (packer->context)
        zstd.destroy(packer->context);
    free(packer->room);
    *packer = (sonde__packer){0};
}

int sonde__pack(sonde__packer *packer, sonde__frame_header *header, struct iovec *body, int count)
{
    bool of_run = header->type == SONDE__FRAME_RECORDS && header->lane == SONDE__FRAME_NO_LANE;
    if (!packer->room || of_run) /* who wrote and how it ended is readable everywhere */
        return count;
    size_t plain = 0;
    for (int i = 0; i < count; i++)
        plain += body[i].iov_len;
    if (plain < PLAIN_LEAST || plain > SONDE__FRAME_BYTES_MAX)
        return count;
    uint8_t *at = packer->room;
    for (int i = 0; i < count; i++) {
        if (body[i].iov_len > 0)
            memcpy(at, body[i].iov_base, body[i].iov_len);
        at += body[i].iov_len;
    }
    uint8_t *out = packer->room + SONDE__FRAME_BYTES_MAX;
    size_t packed =
        zstd.compress(packer->context, out, zstd.bound(plain), packer->room, plain, packer->level);
    if (zstd.is_error(packed) || packed >= plain)
        return count;
    header->plain_bytes = (uint32_t)plain;
    body[0] = (struct iovec){out, packed};
    return 1;
}

sonde_status sonde__frame_body(const uint8_t *frame, sonde__unpacked *room, const uint8_t **body,
                               const uint8_t **end)
{
    sonde__frame_header header;
    memcpy(&header, frame, sizeof header);
    size_t bytes = header.length - sizeof header;
    if (header.plain_bytes == 0) {
        *body = frame + sizeof header;
        *end = *body + bytes;
        return SONDE_OK;
    }
    if (!sonde__zstd_here())
        return SONDE_EABSENT;
    if (header.plain_bytes > room->cap) {
        uint8_t *grown = realloc(room->data, header.plain_bytes);
        if (!grown)
            return SONDE_ENOMEM;
        room->data = grown;
        room->cap = header.plain_bytes;
    }
    if (zstd.decompress(room->data, header.plain_bytes, frame + sizeof header, bytes) !=
        header.plain_bytes)
        return SONDE_EBADDATA;
    *body = room->data;
    *end = room->data + header.plain_bytes;
    return SONDE_OK;
}

void sonde__unpacked_free(sonde__unpacked *room)
{
    free(room->data);
    *room = (sonde__unpacked){0};
}
