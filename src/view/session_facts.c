/* SPDX-License-Identifier: Apache-2.0 */
#include "view/session_facts.h"

#include "view/packet.h"

#include <stdio.h>

static uint64_t attr_uint(const sonde_attr *attr)
{
    return attr->type == SONDE_ATTR_INT || attr->type == SONDE_ATTR_UINT ? attr->value.u : 0;
}

static void take_attrs(const sonde_run *run, sonde__session_facts *out)
{
    for (size_t i = 0; i < run->attr_count; i++) {
        sonde__text key = {run->attrs[i].key, run->attrs[i].key_len};
        if (sonde__text_is(key, SONDE__ATTR_PROMPT_TOKENS))
            out->prompt_tokens += attr_uint(&run->attrs[i]);
        else if (sonde__text_is(key, SONDE__ATTR_TOKENS_GENERATED))
            out->tokens_generated += attr_uint(&run->attrs[i]);
    }
}

void sonde__session_facts_read(const sonde_reader *reader, sonde__session_facts *out)
{
    *out = (sonde__session_facts){.processes = sonde_reader_run_count(reader)};
    for (size_t i = 0; i < out->processes; i++) {
        const sonde_run *run = sonde_reader_run(reader, i);
        if (run->session_name && (run->opener || !out->session_name[0]))
            snprintf(out->session_name, sizeof out->session_name, "%s", run->session_name);
        if (run->started_wall_ns && (!out->start_ns || run->started_wall_ns < out->start_ns))
            out->start_ns = run->started_wall_ns;
        if (run->ended_wall_ns > out->end_ns)
            out->end_ns = run->ended_wall_ns;
        out->running += run->state == SONDE_RUN_RUNNING;
        out->died += run->state == SONDE_RUN_RECOVERED || run->state == SONDE_RUN_DIED ||
                     run->state == SONDE_RUN_LOST;
        take_attrs(run, out);
    }
}
