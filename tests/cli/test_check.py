# SPDX-License-Identifier: Apache-2.0
"""Settings files through the command line: what is refused and how, which file is found, what they do."""
import json
import os
import re
import time

import pytest

ALIAS_BOMB = "a: &a [x, x]\n" + "".join(f"{n}: &{n} [*{p}, *{p}]\n" for p, n in zip("abcdefgh", "bcdefghi"))

BAD = {
    "unknown key": ("telemetry_capture:\n  cpu: true\n  per_cpus: true\n", "3:3",
                    'unknown key "per_cpus" in telemetry_capture; did you mean "per_cpu"?'),
    "unknown block": ("telemetry_captur:\n  cpu: true\n", "1:1", 'did you mean "telemetry_capture"?'),
    "wrong type": ("telemetry_capture:\n  cpu: 3\n", "2:8", "expected true or false"),
    "quoted": ('telemetry_capture:\n  cpu: "true"\n', "2:8", "in quotes; expected true or false"),
    "unknown level": ("telemetry_capture:\n  level: ful\n", "2:10", 'did you mean "full"?'),
    "list for a switch": ("telemetry_capture:\n  cpu: [true]\n", "2:8", "expected true or false"),
    "relative path": ("telemetry_capture:\n  disk_paths: [home]\n", "2:16", "absolute"),
    "tab": ("telemetry_capture:\n\tcpu: true\n", "2:1", "a tab cannot indent YAML; use spaces"),
    "twice": ("telemetry_capture:\n  cpu: true\n  cpu: false\n", "3:3", "cpu"),
    "alias bomb": (ALIAS_BOMB, "1:", ""),
    "deep": ("telemetry_capture: " + "[" * 5000 + "\n", "1:", ""),
    "not closed": ("telemetry_capture: {cpu: true\n", "1:20", 'a block is not closed; expected "}"'),
    "NUL": ("telemetry_capture:\n  cpu: true\n\0", "3:1", ""),
    "not UTF-8": (b"telemetry_capture:\n  # \xff\n", "2:5", ""),
    "empty block": ("telemetry_capture:\n", "1:", ""),
    "second document": ("---\ninstrumentation: {enabled: true}\n---\n", "3:", ""),
    "a binary": (bytes(range(256)) * 16, "1:", ""),
}


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture(params=BAD)
def bad(request, folder):
    content, place, message = BAD[request.param]
    return write(folder / "bad.yaml", content), place, message


def check_line(text, place, message):
    assert text.count("\n") == 1
    match = re.search(r"(?:^|: )bad\.yaml:(\d+:\d+): (.+)\n$", text)
    assert match, text
    assert match[1].startswith(place) and message in match[2], text


def test_bad_file_is_refused(sonde, bad):
    _, place, message = bad
    done = sonde("check", "bad.yaml")
    assert (done.code, done.out) == (2, "")
    check_line(done.err, place, message)
    assert done.err.startswith("bad.yaml:")


def test_bad_file_is_refused_by_capture(sonde, bad):
    _, place, message = bad
    done = sonde("capture", "--settings", "bad.yaml")
    assert (done.code, done.out) == (2, "")
    check_line(done.err, place, message)


def test_bad_file_as_json(sonde, bad):
    _, place, message = bad
    done = sonde("check", "--json", "bad.yaml")
    assert (done.code, done.err) == (2, "")
    outcome = json.loads(done.out)
    assert outcome["valid"] is False
    check_line(outcome["error"] + "\n", place, message)


def test_huge_file_is_refused_at_once(sonde, folder):
    line = b"telemetry_capture: {cpu: true} # " + b"x" * (1 << 20) + b"\n"
    with open(folder / "huge.yaml", "wb") as huge:
        for _ in range(100):
            huge.write(line)
    took_s = []
    for _ in range(3):  # one of them undisturbed
        start = time.monotonic()
        done = sonde("check", "huge.yaml")
        took_s.append(time.monotonic() - start)
    assert min(took_s) < 1
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(r"huge\.yaml:1:1: the file has \d+ bytes, too many .*\n", done.err)


def test_what_is_no_file(sonde, folder):
    os.mkfifo(folder / "pipe.yaml")
    (folder / "folder.yaml").mkdir()
    for name, reason in (("pipe.yaml", "a device or a pipe"), ("folder.yaml", "a folder"),
                         ("/dev/zero", "a device or a pipe"), ("absent.yaml", "no such file")):
        done = sonde("check", name)
        assert (done.code, done.out) == (2, "") and reason in done.err and name in done.err


def test_good_file(sonde, folder):
    write(folder / "good.yaml", "telemetry_capture:\n  cpu: true\nmq:\n  type: redis\n")
    done = sonde("check", "good.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == ["good.yaml: ok",
                                     "good.yaml: mq belongs to Flowcept; Sonde does not use it"]
    assert json.loads(sonde("check", "--json", "good.yaml").out) == \
        {"valid": True, "file": "good.yaml", "ignored": ["mq"]}


# ---- which file


def only(section):
    return f"telemetry_capture:\n  {section}: true\n"


def captured(capture, **more):
    return [key for key in capture(**more) if key != "sonde"]


def test_look_up_order(capture, folder, environment, tmp_path):
    """Each place is set while those after it are, and wins over them."""
    assert len(captured(capture)) == 5
    home = tmp_path / "home" / ".config" / "sonde"
    home.mkdir(parents=True)
    write(home / "settings.yaml", only("disk"))
    assert captured(capture) == ["disk"]
    config = tmp_path / "config" / "sonde"
    config.mkdir(parents=True)
    write(config / "settings.yaml", only("network"))
    there = {"XDG_CONFIG_HOME": str(config.parent)}
    assert captured(capture, env=there) == ["network"]
    write(folder / "settings.yaml", only("mem"))
    assert captured(capture, env=there) == ["memory"]
    named = {**there, "SONDE_SETTINGS": str(write(tmp_path / "named.yaml", only("process_info")))}
    assert captured(capture, env=named) == ["process"]
    given = write(tmp_path / "given.yaml", only("cpu"))
    assert [key for key in capture("--settings", given, env=named) if key != "sonde"] == ["cpu"]


def test_check_tells_which_file(sonde, folder, tmp_path):
    assert sonde("check").out.startswith("no settings file found; the defaults hold")
    write(folder / "settings.yaml", only("mem"))
    assert sonde("check").out == "settings.yaml: ok\n"
    named = write(tmp_path / "named.yaml", only("mem"))
    assert sonde("check", env={"SONDE_SETTINGS": str(named)}).out == f"{named}: ok\n"


def test_a_named_file_must_be_there(sonde):
    done = sonde("capture", env={"SONDE_SETTINGS": "/absent/settings.yaml"})
    assert (done.code, done.out) == (2, "") and "/absent/settings.yaml: there is no such file" in done.err


def test_a_bad_file_that_is_found_stops_everything(sonde, folder):
    write(folder / "settings.yaml", "telemetry_capture: {cpus: true}\n")
    for command in ("capture", "check"):
        done = sonde(command)
        assert (done.code, done.out) == (2, "") and "settings.yaml:1:21: unknown key" in done.err


# ---- --print


@pytest.mark.parametrize("content", [
    "instrumentation: {enabled: true}\n",
    "telemetry_capture:\n  cpu: true\n  disk: yes\n  level: regular\n  disk_paths: [/, /tmp, '/a b: #c']\n"
    "  gpu: [used, power]\ninstrumentation:\n  torch: {what: ~, capture_epochs_at_every: 7}\n"])
def test_print_is_a_settings_file(sonde, folder, content):
    """What --print writes is good and means the same."""
    write(folder / "first.yaml", content)
    first = sonde("check", "--print", "first.yaml")
    assert (first.code, first.err) == (0, "")
    write(folder / "second.yaml", first.out)
    assert sonde("check", "second.yaml") == (0, "second.yaml: ok\n", "")
    assert sonde("check", "--print", "second.yaml").out == first.out
    with open(folder / "second.yaml", "rb") as stdin:
        assert sonde("check", "/dev/stdin", stdin=stdin) == (0, "/dev/stdin: ok\n", "")


def test_print_without_a_file_has_the_defaults(sonde, folder):
    text = sonde("check", "--print").out
    assert "  cpu: true\n" in text and "  level: full\n" in text and '  disk_paths: ["/"]\n' in text
    write(folder / "settings.yaml", text)
    assert sonde("check", "--print").out == text


# ---- what they do


def test_level(capture, folder):
    write(folder / "settings.yaml", "telemetry_capture:\n  level: light\n")
    assert capture()["sonde"]["level"] == "light"
    assert capture("--level", "full")["sonde"]["level"] == "full"


def test_a_type_switched_off(capture, folder):
    write(folder / "settings.yaml", "telemetry_capture:\n  disk: false\n  per_cpu: off\n")
    assert captured(capture) == ["cpu", "process", "memory", "network"]
    assert "times_per_cpu" not in capture()["cpu"]


def test_types_of_the_command_line_win(capture, folder):
    write(folder / "settings.yaml", only("disk"))
    assert [key for key in capture("--types", "mem") if key != "sonde"] == ["memory"]


def test_disk_paths(capture, folder):
    write(folder / "settings.yaml", "telemetry_capture:\n  disk: true\n  disk_paths: [/proc, /]\n")
    telemetry = capture()
    assert telemetry["disk"]["disk_usage"]["total"] == 0  # the first path: procfs has no size
    usage = telemetry["sonde"]["disk_usage_per_path"]
    assert list(usage) == ["/proc", "/"]
    size = os.statvfs("/")
    assert usage["/"]["total"] == size.f_blocks * size.f_frsize


def test_a_disk_path_that_is_not_there(capture, folder):
    write(folder / "settings.yaml", "telemetry_capture:\n  disk: true\n  disk_paths: [/absent/path]\n")
    telemetry = capture()
    assert "disk_usage" not in telemetry["disk"]
    assert telemetry["sonde"]["missing"]["disk.disk_usage.total"] == "absent"


def test_idle_disks(capture, folder):
    write(folder / "settings.yaml", "telemetry_capture:\n  disk: true\n  idle_disks: true\n")
    assert list(capture()["disk"]["io_per_disk"]) == list(capture("--idle-disks")["disk"]["io_per_disk"])
    idle = [name for name in os.listdir("/sys/block") if re.match(r"loop|ram|zram", name)]
    assert set(idle) <= set(capture()["disk"]["io_per_disk"])
