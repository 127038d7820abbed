# SPDX-License-Identifier: Apache-2.0
"""The shape of a capture, as the golden file has it."""
import json

from conftest import ROOT

VECTOR = ROOT / "tests" / "vectors" / "telemetry_all.json"

# objects whose keys are names of this machine; each stands for all of them
NAMED = ("disk.io_per_disk", "network.netio_per_interface")
# lists whose length is this machine's
LISTS = ("cpu.times_per_cpu", "cpu.percent_per_cpu", "process.cmd_line")


def golden():
    return json.loads(VECTOR.read_text())["first"]


def leaves(value, path=""):
    """(path, value) of every number and text; names and positions become "*"."""
    if isinstance(value, dict):
        for key, inner in value.items():
            name = "*" if path in NAMED else key
            yield from leaves(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, f"{path}.*")
    else:
        yield path, value


def paths(telemetry):
    """Each path once, in order."""
    return list(dict.fromkeys(path for path, _ in leaves(telemetry)))


def look_up(telemetry, path):
    for key in path.split("."):
        telemetry = telemetry[key]
    return telemetry
