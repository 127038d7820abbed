/* SPDX-License-Identifier: Apache-2.0 */
#include "sonde/status.h"

#include "base/errno_status.h"

#include <errno.h>

const char *sonde_status_name(sonde_status status)
{
    switch (status) {
#define CASE(name, value, brief, text) \
    case SONDE_##name:                 \
        return brief;
        SONDE_STATUS_MAP(CASE)
#undef CASE
    }
    return "unknown";
}

const char *sonde_status_text(sonde_status status)
{
    switch (status) {
#define CASE(name, value, brief, text) \
    case SONDE_##name:                 \
        return text;
        SONDE_STATUS_MAP(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *sonde_version(void)
{
    return SONDE_VERSION;
}

sonde_status sonde__status_of_errno(int error)
{
    switch (error) {
    case 0:
        return SONDE_OK;
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO:
        return SONDE_EABSENT;
    case EACCES:
    case EPERM:
        return SONDE_EDENIED;
    case ESRCH:
        return SONDE_EGONE;
    case ENOSYS:
    case EOPNOTSUPP:
    case EPROTONOSUPPORT:
    case EAFNOSUPPORT:
        return SONDE_EUNSUPPORTED;
    case ENOMEM:
        return SONDE_ENOMEM;
    case EINVAL:
        return SONDE_EINVAL;
    case EMFILE:
    case ENFILE:
        return SONDE_ELIMIT;
    default:
        return SONDE_EIO;
    }
}
