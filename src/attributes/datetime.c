/* SPDX-License-Identifier: Apache-2.0 */
/* Dates as ISO 8601 writes them and Python's datetime.fromisoformat reads them. */
#include "attributes/datetime.h"

#include <string.h>
#include <time.h>

/* Breaking a time down takes a lock and a look at the zone file; a second needs it once. */
static const struct tm *local_second(time_t second)
{
    static _Thread_local struct tm local;
    static _Thread_local time_t known = -1;
    if (second != known)
        localtime_r(&second, &local);
    known = second;
    return &local;
}

void sonde_datetime_now(sonde_datetime *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct tm *local = local_second(now.tv_sec);
    *out = (sonde_datetime){
        .year = local->tm_year + 1900,
        .month = local->tm_mon + 1,
        .day = local->tm_mday,
        .hour = local->tm_hour,
        .minute = local->tm_min,
        .second = local->tm_sec > 59 ? 59 : local->tm_sec,
        .microsecond = (int)(now.tv_nsec / 1000),
    };
}

typedef struct cursor {
    const char *at;
    const char *end;
} cursor;

static bool take(cursor *from, char c)
{
    if (from->at == from->end || *from->at != c)
        return false;
    from->at++;
    return true;
}

/* Exactly so many digits, at most most. */
static bool take_digits(cursor *from, int digits, int most, int *out)
{
    int value = 0;
    for (int i = 0; i < digits; i++, from->at++) {
        if (from->at == from->end || *from->at < '0' || *from->at > '9')
            return false;
        value = value * 10 + (*from->at - '0');
    }
    *out = value;
    return value <= most;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool take_date(cursor *from, sonde_datetime *out)
{
    return take_digits(from, 4, 9999, &out->year) && take(from, '-') &&
           take_digits(from, 2, 12, &out->month) && take(from, '-') &&
           take_digits(from, 2, 31, &out->day) && out->year > 0 && out->month > 0 && out->day > 0 &&
           out->day <= days_in(out->year, out->month);
}

/* Digits beyond microseconds are cut. */
static bool take_fraction(cursor *from, int *microsecond)
{
    int value = 0;
    int digits = 0;
    for (; from->at < from->end && *from->at >= '0' && *from->at <= '9'; from->at++, digits++) {
        if (digits < 6)
            value = value * 10 + (*from->at - '0');
    }
    for (int i = digits; i < 6; i++)
        value *= 10;
    *microsecond = value;
    return digits > 0;
}

static bool take_time(cursor *from, sonde_datetime *out)
{
    if (!take_digits(from, 2, 23, &out->hour))
        return false;
    if (take(from, ':') && !take_digits(from, 2, 59, &out->minute))
        return false;
    if (take(from, ':') && !take_digits(from, 2, 59, &out->second))
        return false;
    return !take(from, '.') || take_fraction(from, &out->microsecond);
}

static bool take_offset(cursor *from, sonde_datetime *out)
{
    int hours = 0;
    int minutes = 0;
    out->has_offset = 1;
    if (take(from, 'Z'))
        return true;
    bool west = take(from, '-');
    if ((!west && !take(from, '+')) || !take_digits(from, 2, 23, &hours))
        return false;
    if ((take(from, ':') || from->at < from->end) && !take_digits(from, 2, 59, &minutes))
        return false;
    out->offset_s = (hours * 60 + minutes) * 60 * (west ? -1 : 1);
    return true;
}

sonde_status sonde_datetime_parse(const char *text, size_t len, sonde_datetime *out)
{
    cursor from = {text, text + len};
    sonde_datetime time = {0};
    bool good = take_date(&from, &time);
    if (good && from.at < from.end) {
        good = (take(&from, 'T') || take(&from, ' ')) && take_time(&from, &time);
        if (good && from.at < from.end)
            good = take_offset(&from, &time);
    }
    if (!good || from.at != from.end)
        return SONDE_EBADDATA;
    *out = time;
    return SONDE_OK;
}

static char *put_digits(char *out, int value, int digits)
{
    for (int i = digits - 1; i >= 0; i--, value /= 10)
        out[i] = (char)('0' + value % 10);
    return out + digits;
}

size_t sonde_datetime_format(const sonde_datetime *time, char out[SONDE_DATETIME_BYTES])
{
    char *at = put_digits(out, time->year, 4);
    *at++ = '-';
    at = put_digits(at, time->month, 2);
    *at++ = '-';
    at = put_digits(at, time->day, 2);
    *at++ = 'T';
    at = put_digits(at, time->hour, 2);
    *at++ = ':';
    at = put_digits(at, time->minute, 2);
    *at++ = ':';
    at = put_digits(at, time->second, 2);
    if (time->microsecond) {
        *at++ = '.';
        at = put_digits(at, time->microsecond, 6);
    }
    if (time->has_offset) {
        int minutes = (time->offset_s < 0 ? -time->offset_s : time->offset_s) / 60;
        *at++ = time->offset_s < 0 ? '-' : '+';
        at = put_digits(at, minutes / 60, 2);
        *at++ = ':';
        at = put_digits(at, minutes % 60, 2);
    }
    *at = '\0';
    return (size_t)(at - out);
}

bool sonde__datetime_new_day(const sonde_datetime *now, const sonde_datetime *previous, bool compat)
{
    if (compat)
        return now->day != previous->day;
    if (now->year != previous->year)
        return now->year > previous->year;
    if (now->month != previous->month)
        return now->month > previous->month;
    return now->day > previous->day;
}

double sonde__datetime_unix(const sonde_datetime *time)
{
    struct tm fields = {
        .tm_year = time->year - 1900,
        .tm_mon = time->month - 1,
        .tm_mday = time->day,
        .tm_hour = time->hour,
        .tm_min = time->minute,
        .tm_sec = time->second,
        .tm_isdst = -1,
    };
    time_t seconds = time->has_offset ? timegm(&fields) - time->offset_s : mktime(&fields);
    return (double)seconds + time->microsecond / 1e6;
}
