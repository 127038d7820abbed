# SPDX-License-Identifier: Apache-2.0
"""What psutil says, in the shape of a capture."""
import psutil


def cpu():
    telemetry = {"times_avg": psutil.cpu_times()._asdict()}
    frequency = psutil.cpu_freq()
    if frequency is not None:
        telemetry["frequency"] = frequency.current
    telemetry["times_per_cpu"] = [times._asdict() for times in psutil.cpu_times(percpu=True)]
    return telemetry


def process(pid):
    looked_at = psutil.Process(pid)
    return {
        "pid": looked_at.pid,
        "cpu_number": looked_at.cpu_num(),
        "memory": looked_at.memory_info()._asdict(),
        "cpu_times": looked_at.cpu_times()._asdict(),
        "executable": looked_at.exe(),
        "cmd_line": looked_at.cmdline(),
        "num_open_file_descriptors": looked_at.num_fds(),
        "num_connections": len(looked_at.connections(kind="inet")),
        "io_counters": looked_at.io_counters()._asdict(),
        "num_open_files": len(looked_at.open_files()),
        "num_threads": looked_at.num_threads(),
        "num_ctx_switches": looked_at.num_ctx_switches()._asdict(),
    }


def memory():
    return {"virtual": psutil.virtual_memory()._asdict(), "swap": psutil.swap_memory()._asdict()}


def disk():
    per_disk = psutil.disk_io_counters(perdisk=True, nowrap=False)
    total = psutil.disk_io_counters(nowrap=False)
    telemetry = {"disk_usage": psutil.disk_usage("/")._asdict()}
    if total is not None:
        telemetry["io_sum"] = total._asdict()
    telemetry["io_per_disk"] = {name: row._asdict() for name, row in per_disk.items()}
    return telemetry


def network():
    per_interface = psutil.net_io_counters(pernic=True, nowrap=False)
    return {
        "netio_sum": psutil.net_io_counters(nowrap=False)._asdict(),
        "netio_per_interface": {name: row._asdict() for name, row in per_interface.items()},
    }


def take(pid):
    return {"cpu": cpu(), "process": process(pid), "memory": memory(), "disk": disk(),
            "network": network()}
