/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/vendor_library.h"

#include <dlfcn.h>
#include <string.h>

sonde_status sonde__library_load(const char *const *names, const sonde__symbol *symbols,
                                 size_t count, void *table)
{
    void *library = NULL;
    for (; !library && *names; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return SONDE_EABSENT;
    sonde_status status = SONDE_OK;
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, symbols[i].name);
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
        if (!address && symbols[i].required)
            status = SONDE_EUNSUPPORTED;
    }
    dlclose(library); /* NODELETE: only our count of it */
    return status;
}
