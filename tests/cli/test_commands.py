# SPDX-License-Identifier: Apache-2.0
"""What all commands have in common: help, exit codes, wrong command lines."""
import json
import re
import shutil
import subprocess

import pytest

from conftest import PROGRAM, ROOT, clean_environment

COMMANDS = ["run", "serve", "analyze", "capture", "doctor", "check", "dump", "export", "recover", "aggregate", "version", "help"]


def help_of(command):
    done = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def examples():
    """(command, example) for each example of each --help."""
    for command in COMMANDS:
        for line in help_of(command).partition("\nexamples:\n")[2].splitlines():
            if line.startswith("  sonde "):
                yield pytest.param(line.strip(), id=line.strip())


def test_list_of_commands(sonde):
    done = sonde("--help")
    assert (done.code, done.err) == (0, "")
    assert re.findall(r"^  (\w+) {2,}\S", done.out, re.M) == COMMANDS
    assert "exit codes: 0 done, 1 failed, 2 wrong command line or settings" in done.out
    assert sonde("help") == done and sonde("-h") == done


def test_no_command_shows_help_and_fails(sonde):
    done = sonde()
    assert done.code == 2 and done.out == sonde("--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_help(sonde, command):
    done = sonde(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: sonde {command} [OPTIONS]")
    assert "\noptions:\n" in done.out and "\n  --help " in done.out
    assert re.search(rf"\nexamples:\n  sonde {command}", done.out)
    assert max(map(len, done.out.splitlines())) <= 100
    assert sonde(command, "-h") == done and sonde("help", command) == done


def options_of(command):
    return re.findall(r"^  (--[\w-]+)", help_of(command), re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_manual_page_has_every_option(sonde, command):
    page = sonde("help", command, "--man")
    assert (page.code, page.err) == (0, "")
    assert page.out.startswith(f".TH SONDE-{command.upper()} 1 ")
    for option in options_of(command):
        assert "\n.TP\n.B " + option.replace("-", "\\-") in page.out
    for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"):
        assert f"\n.SH {part}\n" in page.out


def test_manual_page_of_the_program(sonde):
    page = sonde("help", "--man").out
    for command in COMMANDS:
        assert f"sonde\\-{command} (1)" in page


def complete(words, environment):
    """What bash offers after these words, with the completion sourced."""
    script = ("source <(sonde help --completion); COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _sonde; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", script, "bash", *words], env=environment, capture_output=True,
                          text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_completion(environment):
    assert complete(["sonde", ""], environment) == [*COMMANDS, "--help", "--version"]
    assert complete(["sonde", "ca"], environment) == ["capture"]
    for command in COMMANDS:
        assert complete(["sonde", command, "--"], environment) == options_of(command)


def test_help_wins_over_the_other_options(sonde):
    done = sonde("capture", "--types", "nothing", "--help")
    assert done.code == 0 and done.out.startswith("usage: sonde capture")


def prepare(folder, environment):
    """What the examples speak of: settings, a program, a session called train and a log."""
    (folder / "settings.yaml").write_text("telemetry_capture:\n  cpu: true\n")
    (folder / "train.py").write_text("print(1)\n")
    (folder / "Makefile").write_text("all:\n")
    (folder / "jobs.jsonl").write_text('{"action": "train", "success": true}\n')
    (folder / "old.json").write_text('{"total_action_train_pass": 5}\n')
    subprocess.run([PROGRAM.parent / "example_nested_tasks"], env=environment, cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    for path in list((folder / "telemetry").iterdir()):
        path.rename(path.with_stem("train"))
    shutil.copy(folder / "telemetry" / "train.csv", folder / "log.csv")


def for_a_moment(example, folder):
    """A server's example, on free ports, asked to end after a second."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key.pem", "-out",
                    folder / "cert.pem", "-subj", "/CN=localhost"], check=True, capture_output=True)
    hashed = subprocess.run(["htpasswd", "-nbBC", "5", "alice", "x"], check=True, capture_output=True, text=True).stdout
    (folder / "web.yml").write_text("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n"
                                    "basic_auth_users:\n  " + hashed.strip().replace(":", ": ", 1) + "\n")
    example = example.replace(":9464", ":0").replace("/tmp/sonde.sock", str(folder / "s"))
    if "--listen" not in example:
        example += " --listen 127.0.0.1:0"
    return "timeout --preserve-status -s INT 1 " + example


@pytest.mark.parametrize("example", examples())
def test_example_of_help_runs(example, environment, folder):
    prepare(folder, environment)
    if "--interval" in example and "--count" not in example:
        example += " --count 2"
    example = example.replace("--interval 1s", "--interval 100ms")
    if example.startswith("sonde serve"):
        example = for_a_moment(example, folder)
    # segments of whoever else runs on this machine are not this test's
    done = subprocess.run(["sh", "-c", example], env={**environment, "SONDE_SHM_DIR": "/tmp"}, cwd=folder,
                          capture_output=True, text=True, timeout=30)
    said = [line for line in done.stderr.splitlines() if "summary" in line or line.startswith("  next")]
    told = 1 if example.startswith("sonde run") and "--quiet" not in example or "log.csv" in example else 0
    assert (done.returncode, len(said)) == (0, told)
    assert told or done.stderr == ""


def test_there_are_examples():
    assert len(list(examples())) >= 2 * len(COMMANDS) - 1


def test_version(sonde):
    project = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(sonde VERSION (\S+)", project)[1]
    assert sonde("version") == (0, f"sonde {version}\n", "")
    assert sonde("--version") == sonde("version")
    assert json.loads(sonde("version", "--json").out) == {"version": version}


@pytest.mark.parametrize("typed, near", [("captur", "capture"), ("docter", "doctor"), ("chek", "check"),
                                         ("versoin", "version")])
def test_unknown_command_with_suggestion(sonde, typed, near):
    expected = (2, "", f'sonde: unknown command "{typed}"; did you mean "{near}"?\n')
    assert sonde(typed) == expected
    assert sonde("help", typed) == expected


@pytest.mark.parametrize("typed", ["frobnicate", "", "-x", "--", "/", "capture "])
def test_unknown_command(sonde, typed):
    done = sonde(typed)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f'sonde: unknown command "{typed}"; ') and done.err.count("\n") == 1


@pytest.mark.parametrize("command, typed, near", [
    ("capture", "--type", "--types"), ("capture", "--jsn", "--json"), ("capture", "--levle=full", "--level"),
    ("doctor", "--jason", "--json"), ("check", "--prnt", "--print"), ("version", "--hlep", "--help")])
def test_unknown_option_with_suggestion(sonde, command, typed, near):
    done = sonde(command, typed)
    name = typed.partition("=")[0]
    assert done == (2, "", f"sonde {command}: unknown option {name}; did you mean {near}?\n")


@pytest.mark.parametrize("typed", ["--frobnicate", "-j", "--=", "-"])
def test_unknown_option_or_argument(sonde, typed):
    done = sonde("capture", typed)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("; see: sonde capture --help\n") and done.err.count("\n") == 1


def test_arguments_where_none_are_taken(sonde):
    done = sonde("version", "now")
    assert done == (2, "", 'sonde version: unexpected argument "now"; see: sonde version --help\n')
    assert sonde("check", "a.yaml", "b.yaml").code == 2
    assert sonde("capture", "--", "--json").code == 2


def test_option_without_its_value(sonde):
    assert sonde("capture", "--pid") == (2, "", "sonde capture: --pid needs a value: N\n")
    assert sonde("capture", "--json=yes") == (2, "", "sonde capture: --json takes no value\n")


def test_the_last_of_an_option_given_twice_holds(sonde):
    done = sonde("capture", "--json", "--types", "mem", "--types", "disk")
    assert list(json.loads(done.out)) == ["disk", "sonde"]


LONG = "x" * 131000  # about the longest argument that Linux passes on


@pytest.mark.parametrize("args", [
    [LONG], ["capture", "--" + LONG], ["capture", LONG], ["capture", "--types", LONG],
    ["capture", "--types", "cpu," * 30000 + "x"], ["capture", "--level", LONG], ["capture", "--pid", LONG],
    ["capture", "--interval", LONG], ["capture", "--interval", "1" * 131000],
    ["capture", "--count", "1" * 131000], ["capture", "--settings", LONG], ["check", LONG],
    ["check", "/" * 131000], ["doctor", "--pid", LONG], ["help", LONG], ["version"] + ["x"] * 5000,
], ids=lambda args: f"{args[0][:8]} {args[-2][:12]} {len(args)}" if len(args) > 1 else args[0][:8])
def test_huge_arguments(sonde, args):
    done = sonde(*args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("sonde") or args[0] == "check"
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("args", [[b"\xff\xfe"], [b"capture", b"--types", b"\x80"],
                                  [b"capture", b"--\xc3\x28"], [b"check", b"\xf0\x9f"]])
def test_arguments_that_are_not_utf8(args, tmp_path):
    done = subprocess.run([PROGRAM, *args], capture_output=True, cwd=tmp_path, timeout=30,
                          env=clean_environment(tmp_path))
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\n") == 1


def test_no_arguments_at_all():
    """argv may be empty, without even a name."""
    code = "import ctypes,sys; ctypes.CDLL(None).execv(sys.argv[1].encode(), (ctypes.c_char_p * 1)())"
    done = subprocess.run(["/usr/bin/python3", "-c", code, PROGRAM], capture_output=True, timeout=30)
    assert done.returncode == 2 and done.stdout.startswith(b"sonde: a flight recorder")
