# SPDX-License-Identifier: Apache-2.0
"""The peer of bench_capture: psutil reads the set that Flowcept captures. For each line "N" on standard input it
takes N readings and answers with the nanoseconds per reading; the line "socket" opens a TCP socket."""
import socket
import sys
import time

import psutil

kept = []


def capture():
    process = psutil.Process()
    with process.oneshot():
        own = [process.pid, process.cpu_num(), process.memory_info()._asdict(), process.memory_percent(),
               process.cpu_times()._asdict(), process.cpu_percent(), process.exe(), process.cmdline(),
               process.num_fds(), len(process.connections()), process.io_counters()._asdict(),
               len(process.open_files()), process.num_threads(), process.num_ctx_switches()._asdict()]
    cpu = [psutil.cpu_times()._asdict(), psutil.cpu_percent(), psutil.cpu_freq(),
           [one._asdict() for one in psutil.cpu_times(percpu=True)], psutil.cpu_percent(percpu=True)]
    memory = [psutil.virtual_memory()._asdict(), psutil.swap_memory()._asdict()]
    disk = [psutil.disk_usage("/")._asdict(), psutil.disk_io_counters(perdisk=False)._asdict(),
            {name: one._asdict() for name, one in psutil.disk_io_counters(perdisk=True).items()}]
    network = [psutil.net_io_counters(pernic=False)._asdict(),
               {name: one._asdict() for name, one in psutil.net_io_counters(pernic=True).items()}]
    return own, cpu, memory, disk, network


for line in sys.stdin:
    if line.strip() == "socket":
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        kept.append(listener)
        print(0, flush=True)
        continue
    count = int(line)
    start = time.perf_counter_ns()
    for _ in range(count):
        capture()
    print((time.perf_counter_ns() - start) // count, flush=True)
