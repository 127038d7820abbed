/* SPDX-License-Identifier: Apache-2.0 */
/* sonde serve: becomes sonde-serve (src/serve). */
#include "cli/command.h"
#include "cli/helper_program.h"
#include "cli/units.h"

#include <stdio.h>
#include <string.h>

/* The interval in nanoseconds, as the helper takes it. */
static char interval_text[24];

static const char *replace(const char *option)
{
    return strcmp(option, "--interval") == 0 && interval_text[0] ? interval_text : NULL;
}

static int serve_run(const sonde__args *args)
{
    const char *interval = sonde__args_get(args, "--interval");
    uint64_t ns;
    if (interval) {
        if (!sonde__parse_duration(interval, &ns)) {
            sonde__command_error(args->command, "--interval: \"%s\" is not a time such as 1s",
                                 interval);
            return SONDE__EXIT_USAGE;
        }
        snprintf(interval_text, sizeof interval_text, "%llu", (unsigned long long)ns);
    }
    return sonde__helper_execute(args, "serve", replace);
}

static const sonde__option serve_options[] = {
    {"--listen", "LIST",
     "addresses and unix:PATHs (default: 127.0.0.1:9464, [::1]:9464, a socket)"},
    {"--dir", "DIR", "where recorded sessions are (default: $SONDE_DIR, else telemetry)"},
    {"--interval", "TIME", "how often to read the machine and take a snapshot (default: 1s)"},
    {"--types", "LIST", "what of the machine (default: cpu,per_cpu,mem,disk,network)"},
    {"--no-host", NULL, "do not read the machine"},
    {"--profile", "NAME", "names in /metrics: sonde (default) or pyveda"},
    {"--web-config", "FILE", "TLS and passwords: exporter-toolkit's web configuration"},
    {"--insecure-listen", NULL, "listen where other machines can read without TLS or password"},
    {"--allow-host", "LIST", "names in Host that are answered, beside addresses and localhost"},
    {NULL, NULL, NULL},
};

static const sonde__example serve_examples[] = {
    {"serve", "the machine and all instrumented programs of this user at http://127.0.0.1:9464"},
    {"serve --listen unix:/tmp/sonde.sock", "on a UNIX socket only"},
    {"serve --listen :9464 --web-config web.yml", "for other machines, with TLS and a password"},
    {NULL, NULL},
};

const sonde__command sonde__command_serve = {
    .name = "serve",
    .operands = "",
    .summary = "serve metrics, snapshots, tasks and events over HTTP",
    .about =
        "Answers with what the machine and the running instrumented programs of this user do, "
        "read\n"
        "from their shared memory at no cost to them, and with recorded sessions: /metrics for\n"
        "Prometheus, and JSON below /api/v1. / lists the paths; /api/v1/openapi.json describes "
        "them.\n"
        "The default socket is sonde.sock in $XDG_RUNTIME_DIR, where that is set. Runs until\n"
        "Ctrl-C. Only this machine is listened to unless told otherwise.",
    .options = serve_options,
    .examples = serve_examples,
    .run = serve_run,
};
