# SPDX-License-Identifier: Apache-2.0
"""sonde run: exit codes, files and totals for programs of many kinds; signals in a real terminal."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import pytest

from conftest import BUILD, PROGRAM, SANITIZE
from sessions import rows, summary

MIB = 1 << 20


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check_totals(used, cpu_s, recorder):
    """By the kernel's account, cpu_s went into the program and its recorder, whatever the program was.
    What the recorder takes to start and to end is in no summary."""
    assert used["cpu_s"] == pytest.approx(used["user_s"] + used["system_s"], abs=1e-6)
    slack = 0.05 * cpu_s + (0.5 if SANITIZE else 0.03)
    assert used["cpu_s"] <= cpu_s + 0.001
    assert cpu_s - used["cpu_s"] - recorder["cpu_s"] <= slack
    assert used["launch_error"] or (used["peak_rss_bytes"] > 0 and used["peak_processes"] >= 1)


@pytest.fixture
def run(sonde, folder):
    """run(*command, options=[...]): the outcome, and the summary of the session, its totals checked."""
    def do(*command, options=(), **more):
        before = cpu_of_children()
        done = sonde("run", "--session", "test", *options, "--", *command, **more)
        cpu_s = cpu_of_children() - before
        path = folder / "telemetry" / "test.json"
        total = summary(path) if path.exists() else None
        if total and not total["run"]["still_running"]:
            check_totals(total["run"], cpu_s, total["recorder"])
        return done, total
    return do


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def test_shell_pipeline(run, folder):
    done, total = run("sh", "-c", "seq 1000 | sort -rn | head -n 1")
    assert (done.code, done.out) == (0, "1000\n")
    assert total["run"]["exit_code"] == 0 and total["state"] == "finished"
    assert {path.suffix for path in (folder / "telemetry").iterdir()} == {".sonde", ".csv", ".json"}
    assert "exit code 0" in done.err and "sonde analyze" in done.err


def test_quiet_and_json(run):
    assert run("true", options=["--quiet"])[0].err == ""


def test_json_on_stderr(run):
    done, total = run("true", options=["--json"])
    assert json.loads(done.err) == total


def test_standard_streams_are_untouched(run):
    done, _ = run("sh", "-c", "cat; echo to-stderr >&2; exit 9", options=["--quiet"], stdin=None,
                  input=b"through\n")
    assert (done.code, done.out, done.err) == (9, "through\n", "to-stderr\n")


@pytest.mark.parametrize("command, code, text", [
    (["no-such-command-here"], 127, "No such file or directory"),
    (["./plain"], 126, "Permission denied"),
    (["/tmp"], 126, "Permission denied"),
])
def test_what_cannot_run(run, folder, command, code, text):
    (folder / "plain").write_text("not a program\n")
    done, total = run(*command)
    assert done.code == code and text in done.err and done.err.count("\n") == 1
    assert total is None and not list((folder / "telemetry").iterdir())


@pytest.mark.parametrize("arguments, text", [
    ([], "what should run?"),
    (["--sample", "soon", "--", "true"], "is not a time"),
    (["--types", "colour", "--", "true"], "is not a type"),
    (["--nothing", "--", "true"], "unknown option"),
])
def test_wrong_command_lines(sonde, arguments, text):
    done = sonde("run", *arguments)
    assert done.code == 2 and text in done.err


def test_bad_session_name_and_folder(sonde, folder):
    done = sonde("run", "--session", "../up", "--", "touch", "ran")
    assert done.code == 125 and "is not a name" in done.err
    (folder / "file").write_text("")
    done = sonde("run", "--dir", "file", "--", "touch", "ran")
    assert done.code == 125 and "cannot record in file" in done.err
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_killed_command(run, number):
    done, total = run("sh", "-c", f"kill -{int(number)} $$")
    assert done.code == 128 + number and total["run"]["signal"] == number
    assert f"killed by signal {int(number)}" in done.err


def test_forks_200_children(run):
    script = "for i in $(seq 200); do (exit 0) & done; wait; echo done"
    done, total = run("bash", "-c", script, timeout=60)
    assert (done.code, done.out) == (0, "done\n") and total["run"]["still_running"] == []


def test_daemon_is_found_and_left(run, folder):
    script = "setsid sh -c 'echo $$ > pid; exec sleep 30' >/dev/null 2>&1 </dev/null & sleep 0.5"
    done, total = run("sh", "-c", script)
    pid = int((folder / "pid").read_text())
    try:
        assert done.code == 0 and "1 process still: sleep" in done.err
        assert total["run"]["still_running"] == [{"pid": pid, "name": "sleep"}]
        os.kill(pid, 0)  # it lives on
    finally:
        os.kill(pid, signal.SIGKILL)


def times_of_bash(text):
    minutes = {name: float(m) * 60 + float(s)
               for name, m, s in re.findall(r"(real|user|sys)\s+(\d+)m([\d.]+)s", text)}
    return minutes["user"] + minutes["sys"]


BURN = ("import time, os\n"
        "end = time.process_time() + 0.7\n"
        "while time.process_time() < end: pass\n"
        "if os.fork() == 0:\n"
        "    end = time.process_time() + 0.5\n"
        "    while time.process_time() < end: pass\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print(sum(os.times()[:4]))\n")


def test_cpu_time_is_that_of_bash(run):
    """The same run by bash's account and by ours: 1.2 s of CPU in two processes. Two runs would differ by
    what Python takes to start on a busy machine."""
    done, total = run("bash", "-c", f"time /usr/bin/python3 -c '{BURN}'", timeout=120)
    assert done.code == 0
    own = float(done.out)  # what the program itself was told, without Python's end
    assert total["run"]["cpu_s"] == pytest.approx(own, rel=0.05)
    assert total["run"]["cpu_s"] == pytest.approx(times_of_bash(done.err), rel=0.05)


def test_gpu_peak_and_energy(run):
    """Two AMD and two NVIDIA GPUs, through stand-ins for the vendors' libraries."""
    done, total = run("sleep", "0.1", env={"LD_LIBRARY_PATH": str(BUILD / "lib" / "standin_new")})
    assert done.code == 0
    gpus = total["run"]["gpus"]
    assert [one["name"] for one in gpus] == ["gpu_0", "gpu_1", "gpu_2", "gpu_3"]
    assert [one["peak_used_bytes"] for one in gpus] == 2 * [10960896] + 2 * [1234567890]
    assert total["run"]["peak_gpu_bytes"] == 2491057572
    assert all(one["peak_utilization_percent"] > 0 and one["joules"] >= 0 for one in gpus)
    assert total["run"]["gpu_joules"] >= 0
    assert re.search(r"gpu +peak 2\.3 GiB in use on 4 GPUs", done.err)
    assert re.search(r"energy +\d+\.\d J: GPUs", done.err)


def test_no_gpu_and_no_energy_say_so(run):
    _, total = run("true", options=["--no-host"])
    assert total["run"]["gpus"] == [] and total["run"]["joules"] is None
    assert total["run"]["joules_reason"] == "the machine is not looked at"


@pytest.mark.skipif(bool(SANITIZE), reason="measured once, with the release build")
def test_peak_memory_of_a_known_allocation(run):
    program = f"x = bytearray({200 * MIB}); import time; time.sleep(0.2)"
    done, total = run("/usr/bin/python3", "-c", program)
    base = 10 * MIB  # the interpreter itself
    assert done.code == 0
    assert total["run"]["peak_rss_bytes"] == pytest.approx(200 * MIB + base, rel=0.05)


def test_two_seconds_of_python_have_samples(run, folder, sonde):
    done, total = run("/usr/bin/python3", "-c", "import time; time.sleep(2)", options=["--sample", "250ms"])
    assert done.code == 0 and 2 <= total["run"]["duration_s"] < 10
    assert total["run"]["host"]["samples"] >= 5
    dump = sonde("dump", folder / "telemetry" / "test.sonde").out
    assert dump.count('"sonde.sample"') == total["run"]["host"]["samples"]


def test_a_short_command_has_a_sample(run):
    _, total = run("true")
    assert total["run"]["host"]["samples"] == 1
    assert total["run"]["peak_rss_bytes"] > 0 and total["run"]["peak_processes"] == 1


def test_instrumented_program_with_threads(run, folder, sonde):
    done, total = run(BUILD / "bin" / "thread_tasks", "4", "500", timeout=60)
    assert done.code == 0 and "2000 ended, 200 failed" in done.err
    assert (total["total_packets_processed"], total["failed_packets"]) == (2000, 200)
    log = rows(folder / "telemetry" / "test.csv")
    assert len(log) == 2000 and {row["operation"] for row in log} == {"step"}
    analysis = json.loads(sonde("analyze", "--json").out)
    assert analysis["total_packets_processed"] == 2000 and analysis["input"]["processes"] == 2


def test_instrumented_program_that_is_killed(run, folder, sonde):
    done, total = run(BUILD / "bin" / "thread_tasks", "2", "100", "kill", timeout=60)
    assert done.code == 137 and "200 ended, 20 failed, 1 never ended" in done.err
    assert total["state"] == "died" and total["loss"] == {"lost": 0, "missing": 0, "open": 1}
    assert len(rows(folder / "telemetry" / "test.csv")) == 200
    assert "never_ended" in sonde("analyze").out


def test_itself(run, folder):
    done, total = run(PROGRAM, "run", "--session", "inner", "--quiet", "--", "sh", "-c", "exit 4")
    assert done.code == 4 and total["run"]["exit_code"] == 4
    assert summary(folder / "telemetry" / "inner.json")["run"]["exit_code"] == 4


def test_many_arguments(run):
    done, _ = run("sh", "-c", 'echo $#', "sh", *map(str, range(500)))
    assert done.out == "500\n"


def test_command_without_dashes(sonde):
    assert sonde("run", "--quiet", "echo", "-n", "--quiet").out == "--quiet"


def start(folder, environment, *command):
    return subprocess.Popen([PROGRAM, "run", "--session", "live", "--sample", "100ms", "--", *command],
                            cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_signals_of_others_are_passed_on(folder, environment):
    script = "trap 'echo got usr1; exit 7' USR1; echo ready; while :; do sleep 0.05; done"
    process = start(folder, environment, "sh", "-c", script)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGUSR1)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (7, "got usr1\n")


def test_the_summary_is_valid_while_it_runs(folder, environment):
    process = start(folder, environment, "sleep", "30")
    path = folder / "telemetry" / "live.json"
    try:
        wait_for(path.exists)
        for _ in range(50):
            assert summary(path)["state"] == "running"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 143
    assert summary(path)["state"] == "finished"


def test_the_recorder_is_killed(folder, environment, sonde):
    """What it had recorded is complete; the command lives on; analyze finishes the summary."""
    process = start(folder, environment, "sh", "-c", "echo $$; exec sleep 30")
    pid = int(process.stdout.readline())
    try:
        wait_for((folder / "telemetry" / "live.json").exists)
        process.kill()
        process.wait(timeout=30)
        os.kill(pid, 0)
        done = sonde("analyze")
        assert done.code == 0 and re.search(r"Never Ended:\n   sh\n", done.out)
        assert summary(folder / "telemetry" / "live.json")["state"] == "died"
    finally:
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=30)


@pytest.fixture
def terminal(folder, environment):
    """A shell with job control in a terminal: type(text), and what is on the screen."""
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    name = f"sonde-test-{time.monotonic_ns()}"  # the server of the last test may still be ending

    def tmux(*args):
        return subprocess.run(["tmux", "-L", name, "-f", "/dev/null", *args], env=environment, cwd=folder,
                              capture_output=True, text=True, timeout=30).stdout

    tmux("new-session", "-d", "-x", "150", "-y", "50", "env PS1='$ ' bash --norc --noprofile")

    class Terminal:
        @staticmethod
        def type(*keys):
            tmux("send-keys", *keys)

        @staticmethod
        def wait(pattern):
            return wait_for(lambda: re.search(pattern, tmux("capture-pane", "-p"), re.M))
    yield Terminal
    tmux("kill-server")


def test_ctrl_c_in_a_terminal(terminal, folder):
    script = "trap \"echo interrupted; exit 5\" INT; echo ready; while :; do sleep 0.05; done"
    terminal.wait(r"^\$")
    terminal.type(f"{PROGRAM} run --session key --quiet -- sh -c '{script}'; echo code=$?", "Enter")
    terminal.wait(r"^ready")
    terminal.type("C-c")
    terminal.wait(r"\^Cinterrupted")
    terminal.wait(r"^code=5")
    assert summary(folder / "telemetry" / "key.json")["run"]["exit_code"] == 5


def test_ctrl_c_kills_both(terminal, folder):
    terminal.wait(r"^\$")
    terminal.type(f"{PROGRAM} run --session key --quiet -- sleep 60; echo code=$?", "Enter")
    wait_for((folder / "telemetry" / "key.sonde").exists)
    time.sleep(0.3)
    terminal.type("C-c")
    terminal.wait(r"code=130")
    assert summary(folder / "telemetry" / "key.json")["run"]["signal"] == signal.SIGINT


def test_ctrl_z_in_a_terminal(terminal, folder):
    script = "echo ready; read line; echo line=$line"
    terminal.wait(r"^\$")
    terminal.type(f"{PROGRAM} run --session key --quiet -- sh -c '{script}'", "Enter")
    terminal.wait(r"^ready")
    terminal.type("C-z")
    terminal.wait(r"Stopped")
    terminal.type("echo shell; fg; echo code=$?", "Enter")
    terminal.wait(r"^shell")
    terminal.type("hello", "Enter")
    terminal.wait(r"^line=hello")
    terminal.wait(r"^code=0")
    assert summary(folder / "telemetry" / "key.json")["run"]["exit_code"] == 0
