# SPDX-License-Identifier: Apache-2.0
"""`sonde doctor` tells each field once, with its value or the reason and a remedy."""
import json
import os
import re
import shutil
import tempfile

import pytest

from conftest import PROGRAM, ROOT

NOBODY = 65534
# root's descriptors, I/O and program are nobody else's business
DENIED = {"process.num_open_file_descriptors", "process.num_connections", "process.num_open_files",
          "process.executable",
          *(f"process.io_counters.{kind}_{what}" for kind in ("read", "write")
            for what in ("count", "bytes", "chars"))}
DENIED_OF_TREE = {"sonde.tree.memory.pss",
                  *(f"sonde.tree.io_counters.{kind}_{what}" for kind in ("read", "write")
                    for what in ("bytes", "chars"))}
OWN_SECTIONS = ("cgroup", "pressure", "energy", "load", "thermal", "tree")


def fields_of_header():
    text = (ROOT / "include" / "sonde" / "fields.h").read_text().replace("\\\n", "")
    table = re.search(r"#define SONDE_FIELD_MAP\(X\)(.*?)\n", text, re.S)[1]
    found = re.findall(r'X\(\w+, (\w+), "(\w*)",\s*"(\w+)"', table)
    paths = [".".join(filter(None, (section.lower(), group, key))) for section, group, key in found]
    return ["sonde." + path if path.startswith(OWN_SECTIONS) else path for path in paths]


def table_rows(text):
    """(path, what stands behind it) of each field's line."""
    return [(match[1], match[2]) for match in re.finditer(r"^  ([\w.]+) +(.*)$", text, re.M)]


def json_fields(text):
    sources = json.loads(text)["sources"].values()
    return [(path, field) for source in sources for path, field in source["fields"].items()]


@pytest.fixture
def as_nobody(sonde):
    """Runs the program as another user than root, from a folder which that user may enter."""
    if os.getuid() != 0:
        yield sonde
        return
    place = tempfile.mkdtemp(prefix="sonde-test-")
    os.chmod(place, 0o755)
    program = shutil.copy(PROGRAM, place)

    def run(*args):
        return sonde(*args, program=program, cwd="/", user=NOBODY, group=NOBODY, extra_groups=[])
    yield run
    shutil.rmtree(place)


@pytest.fixture
def pid_of_root(start_helper):
    return start_helper("idle_process.py").pid if os.getuid() == 0 else 1


def test_the_header_is_understood():
    assert len(fields_of_header()) >= 80 and "process.memory.rss" in fields_of_header()


def test_each_field_once(sonde):
    done = sonde("doctor")
    assert (done.code, done.err) == (0, "")
    rows = table_rows(done.out)
    assert sorted(path for path, _ in rows) == sorted(fields_of_header())
    assert all(value for _, value in rows)
    assert re.search(rf"^\d+ of {len(rows)} fields can be read here; a full reading took ", done.out, re.M)


def test_each_source_has_a_head(sonde):
    text = sonde("doctor").out
    heads = re.findall(r"^(\w+) +(ok|absent|denied|unsupported|bad data) ", text, re.M)
    names = list(json.loads(sonde("doctor", "--json").out)["sources"])
    assert [name for name, _ in heads] == names and len(names) >= 10


def test_json_agrees_with_the_table(sonde):
    done = sonde("doctor", "--json")
    assert (done.code, done.err) == (0, "") and done.out.count("\n") == 1
    fields = json_fields(done.out)
    rows = table_rows(sonde("doctor").out)
    assert [path for path, _ in fields] == [path for path, _ in rows]
    for (path, field), (_, text) in zip(fields, rows):
        assert (field["status"] == "ok") == (not text.startswith("[")), path


def test_json_values_are_those_of_a_capture(sonde, capture):
    telemetry = capture("--types", "mem,disk,process")
    fields = dict(json_fields(sonde("doctor", "--json").out))
    assert fields["memory.virtual.total"]["value"] == telemetry["memory"]["virtual"]["total"]
    assert fields["memory.virtual.total"]["unit"] == "bytes"
    assert fields["disk.disk_usage.total"]["value"] == telemetry["disk"]["disk_usage"]["total"]
    assert fields["process.executable"]["value"] == str(PROGRAM)
    assert fields["process.cmd_line"]["value"] == [str(PROGRAM), "doctor", "--json"]
    for path, field in fields.items():
        assert (field["value"] is None) == (field["status"] != "ok"), path


def test_another_users_process(as_nobody, pid_of_root):
    done = as_nobody("doctor", "--pid", pid_of_root)
    assert (done.code, done.err) == (0, "")
    rows = dict(table_rows(done.out))
    assert sorted(rows) == sorted(fields_of_header())
    assert {path for path, text in rows.items() if text.startswith("[denied]")} == DENIED | DENIED_OF_TREE
    for path in DENIED | DENIED_OF_TREE:
        assert re.search(r"not readable by this user; only .*root may ", rows[path]), rows[path]
    assert re.search(r"^proc_pid_io +denied ", done.out, re.M)
    unread = len([text for text in rows.values() if text.startswith("[")])
    assert f"\n{len(rows) - unread} of {len(rows)} fields can be read here" in done.out


def test_another_users_process_as_json(as_nobody, pid_of_root):
    fields = dict(json_fields(as_nobody("doctor", "--json", "--pid", pid_of_root).out))
    denied = {path: field for path, field in fields.items() if field["status"] == "denied"}
    assert set(denied) == DENIED | DENIED_OF_TREE
    for field in denied.values():
        assert field["value"] is None and "root may" in field["remedy"]
    assert fields["process.memory.rss"]["value"] > 0


def test_capture_of_another_users_process_has_the_rest(as_nobody, pid_of_root):
    done = as_nobody("capture", "--json", "--types", "process", "--pid", pid_of_root)
    assert (done.code, done.err) == (0, "")
    telemetry = json.loads(done.out)
    assert telemetry["sonde"]["missing"] == dict.fromkeys(DENIED, "denied")
    assert telemetry["process"]["memory"]["rss"] > 0 and telemetry["process"]["num_threads"] == 1
    assert "io_counters" not in telemetry["process"]


@pytest.mark.parametrize("pid", ["0", "x", ""])
def test_pid_that_is_none(sonde, pid):
    assert sonde("doctor", "--pid", pid) == (2, "", f'sonde doctor: --pid: "{pid}" is not a process id\n')


def test_pid_that_does_not_exist(sonde):
    pid = 2**22 + 1
    assert sonde("doctor", "--pid", pid) == (1, "", f"sonde doctor: --pid: there is no process {pid}\n")


def test_colour_in_a_terminal_only(sonde, sonde_in_terminal):
    assert "\033[1mproc_stat" in sonde_in_terminal("doctor").out
    assert "\033" not in sonde("doctor").out
