#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lttng_peer.sh PEER: runs PEER under LTTng with its event recorded into tmpfs, by a session daemon of our own, and prints
# what PEER prints. Exit code 3 and a reason on stdout when that cannot be done here.
set -u
peer=$1
give_up() { echo "$1"; exit 3; }
command -v lttng >/dev/null && command -v lttng-sessiond >/dev/null || give_up "lttng-tools is not installed"
home=$(mktemp -d /dev/shm/sonde-lttng-XXXXXX) || give_up "no room in /dev/shm"
export LTTNG_HOME=$home LTTNG_UST_REGISTER_TIMEOUT=3000
# as root the daemon is the system's own, whose place is fixed: another one must not run
if [ "$(id -u)" -eq 0 ] && [ -e /var/run/lttng/lttng-sessiond.pid ] &&
   kill -0 "$(cat /var/run/lttng/lttng-sessiond.pid)" 2>/dev/null; then
    rm -rf "$home"
    give_up "another lttng-sessiond is running"
fi
lttng-sessiond --no-kernel >"$home/log" 2>&1 &
daemon=$!
trap 'kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null; rm -rf "$home"' EXIT
run() { timeout 10 lttng -n "$@" >>"$home/log" 2>&1; }
for _ in $(seq 50); do
    run list && break
    sleep 0.1
done
run create sonde-bench --output="$home/trace" && run enable-channel --userspace --subbuf-size=1M --num-subbuf=8 bench &&
    run enable-event --userspace --channel=bench 'sonde_bench:*' && run start || give_up "no tracing session: $(tail -n 1 "$home/log")"
timeout 60 "$peer" || give_up "the traced program failed"
run stop
run destroy sonde-bench
exit 0
