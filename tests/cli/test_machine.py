# SPDX-License-Identifier: Apache-2.0
"""`sonde capture --machine` has every key of Flowcept's machine_info, but those that tell about Python."""
import json
import os
import socket

import psutil
import pytest

from conftest import ROOT

GOLDEN = json.loads((ROOT / "tests" / "vectors" / "flowcept" / "machine_info.json").read_text())
OF_PYTHON = {"cpu.python_version", "cpu.cpuinfo_version"}
VARIABLES = {"PATH": "/usr/bin:/bin", "HOME": "/home/user", "API_TOKEN": "x1y2z3", "USER": "somebody",
             "SLURM_JOB_ID": "4711", "SLURM_PROCID": "2", "SLURM_NTASKS": "4"}


def keys_of(value, path=""):
    """Every key with its way down; interfaces and variables are names, not keys."""
    if isinstance(value, list):
        value = value[0] if value and isinstance(value[0], dict) else {}
    if not isinstance(value, dict):
        return set()
    found = set()
    for key, inner in value.items():
        name = f"{path}{key}"
        if path in ("network.", "environment."):
            name = f"{path}*"
        found |= {name} | keys_of(inner, name + ".")
    return found


@pytest.fixture
def machine(sonde):
    def run(*args, env=None):
        done = sonde("capture", "--machine", "--json", *args, env={**VARIABLES, **(env or {})})
        assert (done.code, done.err) == (0, "") and done.out.count("\n") == 1
        return json.loads(done.out)
    return run


def test_every_key_of_flowcept(machine):
    info = machine()
    assert keys_of(GOLDEN) - keys_of(info) == OF_PYTHON
    assert [key for key in info if key in GOLDEN] == list(GOLDEN)
    assert set(info) - set(GOLDEN) == {"sonde"}


def test_types_of_values(machine):
    info = machine()

    def check(golden, value, path):
        if isinstance(golden, dict):
            for key in golden:
                if f"{path}{key}" in OF_PYTHON or path in ("network.", "environment."):
                    continue
                check(golden[key], value[key], f"{path}{key}.")
        elif path not in ("cpu.hz_advertised.", "cpu.hz_actual.") and "cache" not in path:
            assert type(value) is type(golden), path
    check(GOLDEN, info, "")


def test_newer_keys_of_cpuinfo(machine):
    cpu = machine()["cpu"]
    for key in ("arch_string_raw", "vendor_id_raw", "brand_raw", "hz_advertised_friendly",
                "hz_actual_friendly", "count", "bits", "flags"):
        assert cpu[key], key
    assert cpu["flags"] == sorted(cpu["flags"]) and "fpu" in cpu["flags"]
    assert cpu["count"] == psutil.cpu_count() and cpu["hz_actual"] == cpu["hz_actual_raw"]


def test_against_psutil(machine):
    info = machine()
    mine = {name: [{**address, "address": address["address"]} for address in addresses]
            for name, addresses in info["network"].items()}
    theirs = {name: [dict(address._asdict(), family=int(address.family)) for address in addresses]
              for name, addresses in psutil.net_if_addrs().items()}
    assert mine == theirs
    assert info["memory"]["virtual"]["total"] == psutil.virtual_memory().total
    assert info["disk"]["total"] == psutil.disk_usage("/").total
    assert info["platform"]["node"] == info["hostname"] == socket.gethostname()
    assert info["platform"]["release"] == os.uname().release
    assert info["login_name"] == "somebody"


def test_environment(machine):
    listed = machine()["environment"]
    assert listed["SLURM_JOB_ID"] == "4711"
    assert listed["API_TOKEN"] is None and listed["PATH"] is None and listed["HOME"] is None
    everything = machine("--environment", "all")["environment"]
    assert everything["HOME"] == "/home/user" and everything["API_TOKEN"] == "***"
    assert machine("--environment", "none")["environment"] == {}


def test_environment_by_settings(machine, folder):
    (folder / "settings.yaml").write_text("telemetry_capture:\n  environment: all\n")
    assert machine()["environment"]["HOME"] == "/home/user"
    assert machine("--environment", "listed")["environment"]["HOME"] is None


def test_wrong_environment(sonde):
    done = sonde("capture", "--machine", "--environment", "some")
    assert done.code == 2 and 'is not listed, all or none' in done.err


def test_job(machine):
    job = machine()["sonde"]["job"]
    assert job["launcher"] == "slurm" and job["id"] == "4711"
    assert (job["rank"], job["size"], job["local_rank"]) == (2, 4, None)


def test_table(sonde):
    done = sonde("capture", "--machine", "--table", env=VARIABLES)
    assert (done.code, done.err) == (0, "")
    assert "\ncpu\n" in done.out and "  vendor_id_raw " in done.out and "x1y2z3" not in done.out


def workflows(sonde, folder):
    lines = sonde("dump", str(next((folder / "telemetry").glob("*.sonde")))).out.splitlines()
    return [line for line in map(json.loads, lines) if line["type"] == "workflow"]


def test_every_workflow_has_it(sonde, folder):
    """By node, where Flowcept has the id of its interceptor."""
    assert sonde("run", "--quiet", "--", "true").code == 0
    described = json.loads(sonde("capture", "--machine", "--json").out)
    begin, end = workflows(sonde, folder)
    assert list(begin["machine_info"]) == [described["hostname"]]
    mine = begin["machine_info"][described["hostname"]]
    assert set(mine) == set(described) and mine["cpu"]["count"] == described["cpu"]["count"]
    assert end["machine_info"] == begin["machine_info"]


def test_settings_keep_it_out_of_the_workflow(sonde, folder):
    (folder / "settings.yaml").write_text("telemetry_capture:\n  machine_info: false\n")
    assert sonde("run", "--quiet", "--", "true").code == 0
    assert all("machine_info" not in one for one in workflows(sonde, folder))


def test_the_environment_of_the_workflow_is_by_the_settings(sonde, folder, environment):
    environment["MY_CHOICE"] = "blue"
    for choice, expected in (("listed", None), ("all", "blue")):
        (folder / "settings.yaml").write_text(f"telemetry_capture:\n  environment: {choice}\n")
        assert sonde("run", "--quiet", "--dir", choice, "--", "true").code == 0
        path = next((folder / choice).glob("*.sonde"))
        (machine,) = json.loads(sonde("dump", str(path)).out.splitlines()[0])["machine_info"].values()
        assert machine["environment"]["MY_CHOICE"] == expected
