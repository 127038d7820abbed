# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: running the program, in a pipe and in a terminal."""
import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import sys
import termios
from collections import namedtuple

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SONDE_BUILD", ROOT / "build" / "release")).resolve()
SANITIZE = os.environ.get("SONDE_SANITIZE", "")
PROGRAM = BUILD / "bin" / "sonde"
HELPERS = pathlib.Path(__file__).resolve().parent / "helpers"

Outcome = namedtuple("Outcome", "code out err")


def clean_environment(home):
    """An environment in which no settings file of the user is found."""
    kept = {name: value for name, value in os.environ.items()
            if name.startswith(("ASAN", "UBSAN", "TSAN", "LSAN"))}
    return {**kept, "HOME": str(home), "PATH": f"{PROGRAM.parent}:/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": "C.UTF-8", "TERM": "xterm"}


@pytest.fixture
def environment(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return clean_environment(home)


@pytest.fixture
def folder(tmp_path):
    """An empty current folder."""
    path = tmp_path / "cwd"
    path.mkdir()
    return path


@pytest.fixture
def sonde(environment, folder):
    """sonde(*args, stdin=..., env={...}, cwd=...): code, stdout and stderr of one run."""
    def run(*args, env=None, cwd=None, program=PROGRAM, timeout=30, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run([str(program), *map(str, args)], env={**environment, **(env or {})},
                              cwd=cwd or folder, stderr=subprocess.PIPE, timeout=timeout, **more)
        out = done.stdout.decode() if done.stdout is not None else ""
        return Outcome(done.returncode, out, done.stderr.decode())
    return run


@pytest.fixture
def start_sonde(environment, folder):
    """The same, left running; ended with the test."""
    started = []

    def start(*args, **more):
        process = subprocess.Popen([str(PROGRAM), *map(str, args)], env=environment, cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, bufsize=0, **more)
        started.append(process)  # no buffer: communicate() would pass over what is in it
        return process
    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def capture(sonde):
    """capture(*args): the JSON that `sonde capture --json ARGS` prints."""
    def run(*args, **more):
        done = sonde("capture", "--json", *args, **more)
        assert done.code == 0 and done.err == "", done
        return json.loads(done.out)
    return run


def read_terminal(master):
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO: the other end is closed
            return text.decode()
        if not piece:
            return text.decode()
        text += piece


@pytest.fixture
def sonde_in_terminal(environment, folder):
    """sonde_in_terminal(*args, columns=80): stdout is a pseudo-terminal of that width."""
    def run(*args, columns=80, env=None):
        master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([str(PROGRAM), *map(str, args)], env={**environment, **(env or {})},
                                   cwd=folder, stdin=subprocess.DEVNULL, stdout=terminal,
                                   stderr=subprocess.PIPE)
        os.close(terminal)
        try:
            out = read_terminal(master).replace("\r\n", "\n")
        finally:
            os.close(master)
            err = process.communicate()[1]
        return Outcome(process.returncode, out, err.decode())
    return run


@pytest.fixture
def start_helper():
    """start_helper("busy_process.py", *args): a program of helpers/ that has said "ready"."""
    started = []

    def start(name, *args, **more):
        process = subprocess.Popen([sys.executable, str(HELPERS / name), *map(str, args)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)
        started.append(process)
        line = process.stdout.readline()
        assert line == "ready\n", line
        return process
    yield start
    for process in started:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()
