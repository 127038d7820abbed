# SPDX-License-Identifier: Apache-2.0
"""Every value of a capture lies between two readings of psutil taken around it, or follows from
other values of the capture by psutil's own formula."""
import fnmatch
import json
import os
import subprocess
import sys

import pytest

import shape
from conftest import BUILD, HELPERS, SANITIZE, clean_environment

sys.path.insert(0, str(HELPERS))
import busy  # noqa: E402
import psutil_reading  # noqa: E402

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
IDLE_DEVICES = ("loop", "ram", "zram")

ROUNDS = 8

# How each value is compared. COUNTER, CLOCK: before <= value <= after, each time. GAUGE: not farther
# than GAUGE_SLACK from where the two readings lie; on a machine where others work memory can rise and
# fall between them, so that once in ROUNDS is enough. DERIVED: recomputed below from other values of the
# same capture.
COUNTER, CLOCK, SAME, GAUGE, DERIVED = "counter", "clock", "same", "gauge", "derived"
GAUGE_SLACK = 1 << 20  # bytes
OWN_SLACK = 32 << 20  # the machine's memory has the command's own in it while it reads
RULES = {
    "cpu.times_avg.*": CLOCK,
    "cpu.percent_all": DERIVED,
    "cpu.frequency": DERIVED,
    "cpu.times_per_cpu.*": CLOCK,
    "cpu.percent_per_cpu.*": DERIVED,
    "process.pid": SAME,
    "process.cpu_number": SAME,
    "process.memory.text": SAME,
    "process.memory.lib": SAME,
    "process.memory.dirty": SAME,
    "process.memory.*": GAUGE,
    "process.memory_percent": DERIVED,
    "process.cpu_times.*": CLOCK,
    "process.cpu_percent": DERIVED,
    "process.executable": SAME,
    "process.cmd_line.*": SAME,
    "process.num_open_file_descriptors": SAME,
    "process.num_connections": SAME,
    "process.io_counters.*": COUNTER,
    "process.num_open_files": SAME,
    "process.num_threads": SAME,
    "process.num_ctx_switches.*": COUNTER,
    "memory.virtual.total": SAME,
    "memory.virtual.percent": DERIVED,
    "memory.virtual.*": GAUGE,
    "memory.swap.total": SAME,
    "memory.swap.percent": DERIVED,
    "memory.swap.used": GAUGE,
    "memory.swap.free": GAUGE,
    "memory.swap.*": COUNTER,
    "disk.disk_usage.total": SAME,
    "disk.disk_usage.percent": DERIVED,
    "disk.disk_usage.*": GAUGE,
    "disk.io_sum.*": COUNTER,
    "disk.io_per_disk.*": COUNTER,
    "network.netio_sum.*": COUNTER,
    "network.netio_per_interface.*": COUNTER,
}


def rule_of(path):
    return next((rule for pattern, rule in RULES.items() if fnmatch.fnmatch(path, pattern)), None)


def slack_of_clock(path, value):
    """One tick, since the two may round differently. Idle and iowait, which the kernel estimates
    while a CPU sleeps and which can go back, as many as there are CPUs and one."""
    if path.startswith("cpu.") and path.endswith(("idle", "iowait")):
        return TICK_S * (1 + len(value["cpu"]["times_per_cpu"]))
    return TICK_S * 1.001


def is_between(path, taken, low, value, high):
    rule = rule_of(path)
    if rule == SAME:
        return value == low == high
    if rule == COUNTER:
        return low <= value <= high
    if rule == CLOCK:
        slack = slack_of_clock(path, taken)
    else:
        slack = OWN_SLACK if path.startswith("memory.") else GAUGE_SLACK
    return min(low, high) - slack <= value <= max(low, high) + slack


def pairs(path, before, value, after):
    """The values below path that are in all three, one by one."""
    if isinstance(value, dict):
        for key in value:
            name = "*" if path in shape.NAMED else key
            yield from pairs(f"{path}.{name}" if path else name, before[key], value[key], after[key])
    elif isinstance(value, list):
        for triple in zip(before, value, after, strict=True):
            yield from pairs(f"{path}.*", *triple)
    else:
        yield path, before, value, after


def without_derived(value, path=""):
    """value without what psutil was not asked for."""
    if not isinstance(value, dict) or path in shape.NAMED:
        return value
    inner = {key: without_derived(below, f"{path}.{key}" if path else key)
             for key, below in value.items()}
    return {key: below for key, below in inner.items()
            if DERIVED not in (rule_of(f"{path}.{key}"), rule_of(f"{path}.{key}.*"))}


def compare(before, value, after):
    """{path: (before, value, after)} of what is not as its rule has it."""
    value = {section: inner for section, inner in value.items() if section != "sonde"}
    wrong, seen = {}, set()
    for path, low, middle, high in pairs("", before, without_derived(value), after):
        seen.add(path)
        if not is_between(path, value, low, middle, high):
            wrong[path] = low, middle, high
    expected = {path for path in shape.paths(shape.golden()) if rule_of(path) != DERIVED}
    per_disk = {path for path in expected if path.startswith("disk.io_")}
    assert expected - seen <= (set() if before["disk"]["io_per_disk"] else per_disk)
    return wrong


def check_brackets(rounds):
    far = None  # gauges that were off in all rounds so far
    for reading in rounds:
        wrong = compare(reading["before"], reading["value"], reading["after"])
        assert {path: what for path, what in wrong.items() if rule_of(path) != GAUGE} == {}
        far = {path: what for path, what in wrong.items() if far is None or path in far}
        if not far:
            return
    assert far == {}


def test_every_key_has_a_rule():
    assert [path for path in shape.paths(shape.golden()) if rule_of(path) is None] == []


# ---- formulas


def busy_percent(before, after):
    """psutil's: guests are in user and nice already, waiting for I/O is idle."""
    steps = {key: max(0.0, after[key] - before[key]) for key in after}
    total = sum(steps.values()) - steps["guest"] - steps["guest_nice"]
    idle = steps["idle"] + steps["iowait"]
    return 100 * max(0.0, total - idle) / total if total > 0 else None


def check_cpu_percent(previous, value):
    cases = [(previous["times_avg"], value["times_avg"], value["percent_all"])]
    cases += zip(previous["times_per_cpu"], value["times_per_cpu"], value["percent_per_cpu"],
                 strict=True)
    for before, after, percent in cases:
        expected = busy_percent(before, after)
        if expected is None:
            assert percent is None
        else:
            assert percent == pytest.approx(expected, abs=0.051)


def check_process_percent(previous, value):
    """Of one CPU, over the time between the two readings."""
    spent_s = sum(value["process"]["cpu_times"][kind] - previous["process"]["cpu_times"][kind]
                  for kind in ("user", "system"))
    expected = 100 * spent_s / value["sonde"]["window_seconds"]
    assert value["process"]["cpu_percent"] == pytest.approx(expected, abs=0.051)


def one_decimal(part, whole):
    return pytest.approx(100 * part / whole if whole else 0.0, abs=0.0501)


def check_memory_formulas(telemetry):
    virtual, swap = telemetry["memory"]["virtual"], telemetry["memory"]["swap"]
    assert virtual["percent"] == one_decimal(virtual["total"] - virtual["available"],
                                             virtual["total"])
    used = virtual["total"] - virtual["free"] - virtual["cached"] - virtual["buffers"]
    assert virtual["used"] == used if used >= 0 else virtual["total"] - virtual["free"]
    assert swap["percent"] == one_decimal(swap["used"], swap["total"])
    assert swap["used"] + swap["free"] == swap["total"]
    process = telemetry["process"]
    expected = 100 * process["memory"]["rss"] / virtual["total"]
    assert process["memory_percent"] == pytest.approx(expected, rel=1e-9)


def check_disk_formulas(telemetry):
    usage = telemetry["disk"]["disk_usage"]
    assert usage["percent"] == one_decimal(usage["used"], usage["used"] + usage["free"])


def check_frequency(before, value, after):
    """Within a factor of two of what psutil saw: frequencies change all the time."""
    seen = [reading["cpu"].get("frequency") for reading in (before, after)]
    if None in seen:
        assert "cpu.frequency" in value["sonde"]["missing"]
    else:
        assert min(seen) / 2 <= value["cpu"]["frequency"] <= max(seen) * 2


def check_formulas(before, previous, value, after):
    check_cpu_percent(previous["cpu"], value["cpu"])
    check_process_percent(previous, value)
    check_memory_formulas(value)
    check_disk_formulas(value)
    check_frequency(before, value, after)


def check_tables(before, value):
    """The rows are psutil's, without idle virtual disks and interfaces that have seen nothing."""
    disks = before["disk"]["io_per_disk"]
    idle = {name for name, row in disks.items()
            if name.startswith(IDLE_DEVICES) and not row["read_count"] + row["write_count"]}
    assert set(value["disk"]["io_per_disk"]) == set(disks) - idle
    used = {name for name, row in before["network"]["netio_per_interface"].items() if any(row.values())}
    assert set(value["network"]["netio_per_interface"]) == used


def check_was_busy(process):
    """The comparison was worth something: what was done shows."""
    assert process["num_threads"] == busy.THREADS
    assert process["num_connections"] == 4
    assert process["io_counters"]["write_chars"] >= busy.WRITTEN_BYTES
    assert process["io_counters"]["read_chars"] >= busy.WRITTEN_BYTES
    for kind in ("user", "system"):
        assert process["cpu_times"][kind] >= busy.CPU_SECONDS - TICK_S
    children = process["cpu_times"]["children_user"] + process["cpu_times"]["children_system"]
    assert children >= busy.CPU_SECONDS - 2 * TICK_S
    assert process["num_ctx_switches"]["voluntary"] > 0


# ---- the own process, through the library


def library_environment(home):
    """Python can load a library built with AddressSanitizer only when its runtime is there first."""
    environment = clean_environment(home)
    if "address" in SANITIZE:
        runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True,
                                 text=True, check=True).stdout.strip()
        environment.update(LD_PRELOAD=runtime, ASAN_OPTIONS="detect_leaks=0")
    return environment


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    if SANITIZE not in ("", "address,undefined"):
        pytest.skip(f"Python cannot load a library built with {SANITIZE}")
    done = subprocess.run([sys.executable, str(HELPERS / "own_process.py"),
                           str(BUILD / "lib" / "libsonde.so"), str(ROUNDS)], capture_output=True,
                          text=True, env=library_environment(tmp_path_factory.mktemp("home")), timeout=60)
    assert done.returncode == 0, done.stderr
    rounds = json.loads(done.stdout)
    assert len(rounds) == ROUNDS
    for reading in rounds:
        for said in (reading["before"], reading["after"]):
            # psutil lists its own folder of descriptors while that is open
            said["process"]["num_open_file_descriptors"] -= 1
    return rounds


def test_own_process_is_bracketed(own):
    check_brackets(own)


def test_own_process_formulas(own):
    for reading in own:
        check_formulas(**reading)


def test_own_process_tables(own):
    check_tables(own[0]["before"], own[0]["value"])


def test_own_process_was_busy(own):
    check_was_busy(own[0]["value"]["process"])
    assert own[0]["value"]["process"]["cpu_percent"] > 1


# ---- another process, through the command


@pytest.fixture
def other(sonde, start_helper):
    """Takes one round after the other."""
    pid = start_helper("busy_process.py").pid

    def rounds():
        for _ in range(ROUNDS):
            before = psutil_reading.take(pid)
            done = sonde("capture", "--json", "--pid", pid, "--interval", "100ms", "--count", "2")
            after = psutil_reading.take(pid)
            assert done.code == 0, done
            previous, value = map(json.loads, done.out.splitlines())
            yield {"before": before, "previous": previous, "value": value, "after": after}
    return rounds()


def test_other_process_is_bracketed(other):
    check_brackets(other)


def test_other_process(other):
    reading = next(other)
    check_formulas(**reading)
    check_tables(reading["before"], reading["value"])
    check_was_busy(reading["value"]["process"])


def test_all_disks_are_listed_on_request(capture):
    before, value, after = psutil_reading.disk(), capture("--idle-disks")["disk"], psutil_reading.disk()
    assert set(value["io_per_disk"]) == set(before["io_per_disk"])
    for name, row in value["io_per_disk"].items():
        for key, number in row.items():
            assert before["io_per_disk"][name][key] <= number <= after["io_per_disk"][name][key]
