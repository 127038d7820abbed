# SPDX-License-Identifier: Apache-2.0
"""A running server and programs for it to watch, each with its own shared memory folder."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import pytest

_path = pathlib.Path(__file__).resolve().parents[1] / "cli" / "conftest.py"
_spec = importlib.util.spec_from_file_location("cli_conftest", _path)
cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cli)

BUILD, PROGRAM, ROOT, SANITIZE = cli.BUILD, cli.PROGRAM, cli.ROOT, cli.SANITIZE


class Server:
    """sonde serve on a free port; .get(path) gives (status, headers, body)."""

    def __init__(self, process, port, scheme="http"):
        self.process, self.port, self.url = process, port, f"{scheme}://127.0.0.1:{port}"

    def get(self, path, headers=None, timeout=10):
        request = urllib.request.Request(self.url + path, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def json(self, path):
        status, _, body = self.get(path)
        assert status == 200, (status, body)
        return json.loads(body)

    def metrics(self, accept=None):
        status, headers, body = self.get("/metrics", {"Accept": accept} if accept else {})
        assert status == 200
        return headers["Content-Type"], body

    def settled(self, check, seconds=10):
        """What check() returns once it is true."""
        end = time.monotonic() + seconds
        while True:
            found = check()
            if found or time.monotonic() > end:
                return found
            time.sleep(0.05)


@pytest.fixture
def environment(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    shm = tempfile.mkdtemp(prefix="serve", dir="/dev/shm")
    yield {**cli.clean_environment(home), "SONDE_SHM_DIR": shm}
    shutil.rmtree(shm, ignore_errors=True)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "cwd"
    path.mkdir()
    return path


@pytest.fixture
def serve(environment, folder):
    """serve(*args): a Server. It is asked to end with the test, and ends with exit code 0."""
    started = []

    def start(*args, listen="127.0.0.1:0", scheme="http"):
        process = subprocess.Popen([str(PROGRAM), "serve", "--listen", listen, *map(str, args)], cwd=folder,
                                   env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        started.append(process)
        line = process.stdout.readline()
        port = re.search(r":(\d+)$", line.strip())
        if not port and "unix:" not in line:
            raise AssertionError(line + process.stderr.read())
        return Server(process, int(port[1]) if port else 0, scheme)
    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (0, ""), (process.returncode, out, err)


@pytest.fixture
def watched(environment, folder):
    """watched(name, series, tasks): an instrumented program that is running."""
    started = []

    def start(name, series=0, tasks=10):
        process = subprocess.Popen([str(BUILD / "bin" / "served_program"), name, str(series), str(tasks)],
                                   env=environment, cwd=folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process
    yield start
    for process in started:
        if process.poll() is None:
            process.stdin.close()
            process.wait(timeout=30)
