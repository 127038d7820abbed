/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/cpuinfo of any machine: what is found lies within the text. */
#include "fuzz.h"

#include "capture/machine_part.h"

#include <stdlib.h>

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check_text(const sonde__cpu_text *found, const char *text, size_t size)
{
    require(!found->text || (found->text >= text && found->text + found->len < text + size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size ? (const char *)data : "";
    sonde__cpu_details cpu;
    sonde__parse_cpu_details(text, size, &cpu);
    check_text(&cpu.vendor, text, size);
    check_text(&cpu.brand, text, size);
    check_text(&cpu.flags, text, size);
    check_text(&cpu.hardware, text, size);
    require(cpu.family >= -1 && cpu.model >= -1 && cpu.stepping >= -1 && cpu.mhz >= 0);
    return 0;
}
