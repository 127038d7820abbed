/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/small_file.h"

#include "capture/machine_parsers.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 3, 0))) static sonde_status open_path(const sonde__host *host,
                                                                    sonde__kernel_file *file,
                                                                    const char *format,
                                                                    va_list args)
{
    char path[SONDE__SMALL_PATH_BYTES], full[SONDE__ROOT_BYTES + SONDE__SMALL_PATH_BYTES];
    int len = vsnprintf(path, sizeof path, format, args);
    file->fd = -1;
    if (len < 0 || (size_t)len >= sizeof path ||
        !sonde__host_path(host, full, sizeof full, "%s", path))
        return SONDE_ELIMIT;
    return sonde__kernel_file_open(file, full, SONDE__FILE_WHOLE);
}

__attribute__((format(printf, 2, 0))) static sonde_status read_path(sonde__host *host,
                                                                    const char *format,
                                                                    va_list args)
{
    sonde__kernel_file file;
    sonde_status status = open_path(host, &file, format, args);
    if (status != SONDE_OK)
        return status;
    status = sonde__kernel_file_read(&file, &host->text);
    sonde__kernel_file_close(&file);
    return status;
}

sonde_status sonde__small_read(sonde__host *host, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sonde_status status = read_path(host, format, args);
    va_end(args);
    return status;
}

sonde_status sonde__small_number(sonde__host *host, uint64_t *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sonde_status status = read_path(host, format, args);
    va_end(args);
    return status == SONDE_OK ? sonde__parse_number(host->text.data, host->text.len, out) : status;
}

sonde_status sonde__small_line(sonde__host *host, char *out, size_t cap, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sonde_status status = read_path(host, format, args);
    va_end(args);
    if (status != SONDE_OK)
        return status;
    size_t len = 0;
    while (len < host->text.len && len + 1 < cap && host->text.data[len] != '\n' &&
           host->text.data[len])
        len++;
    memcpy(out, host->text.data, len);
    out[len] = '\0';
    return SONDE_OK;
}

sonde_status sonde__small_open(const sonde__host *host, sonde__kernel_file *file,
                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sonde_status status = open_path(host, file, format, args);
    va_end(args);
    return status;
}
