# SPDX-License-Identifier: Apache-2.0
"""Options and output of `sonde capture`."""
import itertools
import json
import os
import signal
import subprocess
import time

import pytest

import shape
from conftest import PROGRAM

# by the settings' names and by the sections' own
SECTIONS = {"cpu": "cpu", "per_cpu": "cpu", "process_info": "process", "process": "process",
            "mem": "memory", "memory": "memory", "disk": "disk", "network": "network"}
TOTAL_KEYS = ["times_avg", "percent_all", "frequency"]
ROW_KEYS = ["times_per_cpu", "percent_per_cpu"]


def sections(telemetry):
    return [key for key in telemetry if key != "sonde"]


# ---- --types, --level


@pytest.mark.parametrize("name", SECTIONS)
def test_one_type(capture, name):
    assert sections(capture("--types", name)) == [SECTIONS[name]]


def test_types_can_be_mixed_and_repeat_nothing(capture):
    telemetry = capture("--types", "network,mem,memory,process_info")
    assert sections(telemetry) == ["process", "memory", "network"]


def test_cpu_and_per_cpu_are_apart(capture):
    total, rows = capture("--types", "cpu")["cpu"], capture("--types", "per_cpu")["cpu"]
    assert [key for key in total if key != "frequency"] == ["times_avg", "percent_all"]
    assert list(rows) == ROW_KEYS
    both = capture("--types=cpu,per_cpu")["cpu"]
    assert [key for key in both if key != "frequency"] == ["times_avg", "percent_all", *ROW_KEYS]


@pytest.mark.parametrize("given, near", [("memry", "memory"), ("cpus", "cpu"), ("proces", "process"),
                                         ("cpu,netwrk", "network")])
def test_unknown_type_with_suggestion(sonde, given, near):
    bad = given.split(",")[-1]
    done = sonde("capture", "--types", given)
    assert done == (2, "", f'sonde capture: --types: unknown type "{bad}"; did you mean "{near}"?\n')


@pytest.mark.parametrize("given", ["colour", "", "cpu,,mem", ","])
def test_types_that_are_near_nothing(sonde, given):
    done = sonde("capture", "--types", given)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1 and "known are: cpu per_cpu" in done.err


def test_levels(capture):
    light, regular, full = (capture("--level", level) for level in ("light", "regular", "full"))
    assert [t["sonde"]["level"] for t in (light, regular, full)] == ["light", "regular", "full"]
    assert sections(light) == ["process"]
    assert list(light["process"]) == ["pid", "memory", "memory_percent", "cpu_times", "cpu_percent"]
    assert sections(regular) == sections(full)
    assert "times_per_cpu" not in regular["cpu"] and "times_per_cpu" in full["cpu"]
    assert "io_sum" in regular["disk"] and "io_per_disk" not in regular["disk"]
    assert "netio_sum" in regular["network"] and "netio_per_interface" not in regular["network"]
    every = shape.paths({key: full[key] for key in sections(full)})
    for less in (light, regular):
        assert set(shape.paths({key: less[key] for key in sections(less)})) < set(every)


def test_unknown_level(sonde):
    done = sonde("capture", "--level", "fast")
    assert done == (2, "", 'sonde capture: --level: "fast" is not light, regular or full\n')


# ---- --pid


@pytest.mark.parametrize("pid", ["0", "-1", "1x", "", " ", "99999999999999999999", "self"])
def test_pid_that_is_none(sonde, pid):
    done = sonde("capture", "--pid", pid)
    assert done == (2, "", f'sonde capture: --pid: "{pid}" is not a process id\n')


def test_pid_that_does_not_exist(sonde):
    pid = 2**22 + 1  # above the kernel's largest
    done = sonde("capture", "--pid", pid)
    assert done == (1, "", f"sonde capture: --pid: there is no process {pid}\n")


def test_another_process(capture, start_helper):
    helper = start_helper("idle_process.py")
    process = capture("--types", "process", "--pid", helper.pid)["process"]
    assert process["pid"] == helper.pid
    assert process["cmd_line"][-1].endswith("idle_process.py")


def test_process_that_ends_between_readings(start_sonde, start_helper):
    helper = start_helper("idle_process.py")
    watch = start_sonde("capture", "--types", "process", "--pid", helper.pid, "--interval", "50ms")
    assert json.loads(watch.stdout.readline())["process"]["pid"] == helper.pid
    helper.stdin.close()
    helper.wait()
    out, err = watch.communicate(timeout=20)
    assert watch.returncode == 1
    assert err.decode() == f"sonde capture: process {helper.pid}: the process has ended\n"
    for line in out.decode().splitlines():
        assert json.loads(line)["process"]["pid"] == helper.pid


def test_process_that_ends_leaves_the_rest(start_sonde, start_helper):
    helper = start_helper("idle_process.py")
    watch = start_sonde("capture", "--types", "process,mem", "--pid", helper.pid, "--interval", "50ms")
    assert json.loads(watch.stdout.readline())["process"]["pid"] == helper.pid
    helper.stdin.close()
    helper.wait()
    for line in itertools.islice(watch.stdout, 200):
        telemetry = json.loads(line)
        if telemetry["sonde"]["missing"].get("process.memory.rss") == "gone":
            break
    assert telemetry["memory"]["virtual"]["total"] > 0
    assert "memory" not in telemetry.get("process", {})
    assert telemetry["sonde"]["missing"]["process.num_threads"] == "gone"


# ---- --interval, --count


def test_interval_and_count(sonde):
    start = time.monotonic()
    done = sonde("capture", "--types", "mem", "--interval", "200ms", "--count", "4")
    took_s = time.monotonic() - start
    assert (done.code, done.err) == (0, "")
    readings = [json.loads(line) for line in done.out.splitlines()]
    assert len(readings) == 4
    at = [reading["sonde"]["captured_at"] for reading in readings]
    assert at[3] - at[0] == pytest.approx(0.6, abs=0.3)  # at fixed times: delays do not add up
    assert 0.7 <= took_s < 5
    assert sum(reading["sonde"]["window_seconds"] for reading in readings) == \
        pytest.approx(0.7, abs=0.3)


def test_count_alone_repeats_each_second(start_sonde):
    watch = start_sonde("capture", "--types", "mem", "--count", "2")
    first, second = (json.loads(watch.stdout.readline()) for _ in range(2))
    assert second["sonde"]["captured_at"] - first["sonde"]["captured_at"] == pytest.approx(1, abs=0.5)


def test_each_line_is_flushed(start_sonde):
    watch = start_sonde("capture", "--types", "mem", "--interval", "1h")
    line = watch.stdout.readline()  # hangs when it stays in a buffer
    assert json.loads(line)["memory"]
    assert watch.poll() is None


@pytest.mark.parametrize("option, text", [
    ("--interval", "0"), ("--interval", "-1s"), ("--interval", "1 fortnight"), ("--interval", ""),
    ("--interval", "nan"), ("--interval", "inf"), ("--interval", "1e300s"), ("--interval", "2y"),
    ("--count", "0"), ("--count", "-3"), ("--count", "1.5"), ("--count", ""), ("--count", "9" * 30)])
def test_bad_times(sonde, option, text):
    done = sonde("capture", option, text)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f'sonde capture: {option}: "{text}" is not a ')
    assert done.err.count("\n") == 1


def test_interrupt_leaves_whole_lines(start_sonde):
    watch = start_sonde("capture", "--interval", "20ms")
    watch.stdout.readline()
    watch.send_signal(signal.SIGINT)
    out, err = watch.communicate(timeout=20)
    assert watch.returncode in (-signal.SIGINT, 130) and err == b""
    assert out == b"" or out.endswith(b"\n")
    for line in out.splitlines():
        json.loads(line)


# ---- tables


def test_table_in_a_terminal_and_json_in_a_pipe(sonde_in_terminal, sonde):
    done = sonde_in_terminal("capture")
    assert (done.code, done.err) == (0, "")
    assert "\033[1mcpu\033[0m\n" in done.out and "times_per_cpu" in done.out
    for section in shape.golden():
        assert f"\033[1m{section}\033[0m\n" in done.out
    assert json.loads(sonde("capture").out)


def test_json_in_a_terminal_on_request(sonde_in_terminal):
    done = sonde_in_terminal("capture", "--json", "--types", "mem")
    assert done.code == 0 and json.loads(done.out)["memory"]


def test_table_in_a_pipe_on_request(sonde):
    done = sonde("capture", "--table")
    assert (done.code, done.err) == (0, "") and "\033" not in done.out
    lines = done.out.splitlines()
    assert [line for line in lines if line in shape.golden()] == list(shape.golden())
    for _, inner in shape.golden().items():
        for key in set(inner) - {"percent_per_cpu"}:
            assert any(line.startswith(f"  {key} ") for line in lines), key
    assert lines[-1].startswith("read at ")


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour(sonde_in_terminal, variables):
    done = sonde_in_terminal("capture", "--types", "mem", env=variables)
    assert done.code == 0 and "\033" not in done.out and done.out.startswith("memory\n")


def test_empty_no_color_is_not_set(sonde_in_terminal):
    assert "\033[1m" in sonde_in_terminal("capture", "--types", "mem", env={"NO_COLOR": ""}).out


@pytest.mark.parametrize("columns", [60, 80, 132])
def test_table_fits_the_terminal(sonde_in_terminal, columns):
    done = sonde_in_terminal("capture", columns=columns, env={"NO_COLOR": "1"})
    body = done.out.splitlines()[:-1]
    long = [line for line in body if len(line) > columns and "/" not in line]  # paths stay whole
    assert long == []
    assert len(max(body, key=len)) > columns / 2


def test_a_wide_terminal_needs_no_second_line(sonde_in_terminal):
    wide = sonde_in_terminal("capture", columns=400).out.splitlines()
    narrow = sonde_in_terminal("capture", columns=60).out.splitlines()
    assert len(wide) < len(narrow)
    assert not any(line.startswith(" " * 28) for line in wide)


def test_control_characters_in_arguments_do_not_reach_the_terminal(sonde, start_helper):
    helper = start_helper("idle_process.py", "a\033[31mb\nc")
    done = sonde("capture", "--table", "--types", "process", "--pid", helper.pid)
    line = next(line for line in done.out.splitlines() if line.startswith("  cmd_line"))
    assert "\033" not in done.out and line.endswith("a?[31mb?c")


# ---- where output cannot go


@pytest.mark.parametrize("args", [["capture"], ["capture", "--table"], ["doctor"], ["doctor", "--json"],
                                  ["check"], ["check", "--print"], ["version"], ["capture", "--help"],
                                  ["--help"]])
def test_full_disk(sonde, args):
    with open("/dev/full", "wb") as full:
        done = sonde(*args, stdout=full)
    assert done.code == 1
    assert done.err == "sonde: cannot write the output: No space left on device\n"


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_reader_that_goes_away(environment, handler):
    done = subprocess.run(["sh", "-c", "sonde capture --types mem --interval 10ms | head -n 1"],
                          env=environment, capture_output=True, timeout=30,
                          restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, handler))
    assert done.returncode == 0 and done.stderr == b""
    assert json.loads(done.stdout)["memory"]


def test_closed_output(environment):
    done = subprocess.run(["sh", "-c", "sonde capture --types mem >&-"], env=environment,
                          capture_output=True, timeout=30)
    assert done.returncode == 1
    assert done.stderr == b"sonde: cannot write the output: Bad file descriptor\n"


def test_stdout_of_another_kind(sonde, tmp_path):
    path = tmp_path / "out.json"
    with open(path, "wb") as out:
        assert sonde("capture", stdout=out).code == 0
    assert json.loads(path.read_text())


def test_leaves_no_descriptor_of_its_own_behind(environment):
    """Standard descriptors that are closed are not taken by kernel files that then get output."""
    done = subprocess.run(["sh", "-c", f"exec {PROGRAM} capture --types mem <&- 2>&-"], env=environment,
                          stdout=subprocess.PIPE, timeout=30)
    assert done.returncode == 0 and json.loads(done.stdout)


def test_runs_as_fast_as_promised(sonde):
    """A single capture waits 0.1 s for its percentages and not much longer."""
    start = time.monotonic()
    assert sonde("capture").code == 0
    assert 0.1 <= time.monotonic() - start < 3


def test_does_not_look_at_the_process_of_its_parent(capture):
    process = capture("--types", "process")["process"]
    assert process["pid"] != os.getpid() and process["executable"] == str(PROGRAM)
