# SPDX-License-Identifier: Apache-2.0
"""`sonde capture --json` has the keys, the order and the types of the golden file, and no others."""
import json
import subprocess

import psutil
import pytest

import shape


@pytest.fixture
def telemetry(capture):
    """A capture where what psutil cannot tell here either (a frequency, in some machines) is
    filled in from the golden file."""
    telemetry = capture("--idle-disks")
    missing = telemetry["sonde"]["missing"]
    if psutil.cpu_freq() is None:
        assert missing.pop("cpu.frequency") in ("absent", "unsupported")
        cpu = {}
        for key, value in telemetry["cpu"].items():
            cpu[key] = value
            if key == "percent_all":
                cpu["frequency"] = shape.golden()["cpu"]["frequency"]
        telemetry["cpu"] = cpu
    assert missing == {}
    return telemetry


def test_sections(telemetry):
    assert list(telemetry) == [*shape.golden(), "sonde"]


def test_keys_and_their_order(telemetry):
    del telemetry["sonde"]
    assert shape.paths(telemetry) == shape.paths(shape.golden())


def test_types_of_values(telemetry):
    del telemetry["sonde"]
    golden = {path: type(value) for path, value in shape.leaves(shape.golden())}
    wrong = [(path, value) for path, value in shape.leaves(telemetry)
             if type(value) is not golden[path]]
    assert wrong == []


def test_lists_have_one_element_per_cpu(telemetry):
    assert len(telemetry["cpu"]["times_per_cpu"]) == psutil.cpu_count()
    assert len(telemetry["cpu"]["percent_per_cpu"]) == psutil.cpu_count()


def test_what_sonde_adds(telemetry):
    own = telemetry["sonde"]
    assert set(own) == {"captured_at", "window_seconds", "cost_seconds", "level", "thread", "missing"}
    assert own["level"] == "full"
    assert 0.1 <= own["window_seconds"] < 10
    assert 0 < own["cost_seconds"] < 1


def test_jq_reads_it(sonde):
    text = sonde("capture", "--json").out
    assert text.count("\n") == 1 and text.endswith("\n")
    done = subprocess.run(["jq", "-c", "[.process.pid, (.cpu.times_per_cpu | length)]"], input=text,
                          capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [json.loads(text)["process"]["pid"], psutil.cpu_count()]
