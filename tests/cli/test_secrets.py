# SPDX-License-Identifier: Apache-2.0
"""A secret in the environment, in arguments or in a settings file appears in no output of any command."""
import re
import subprocess
import sys

import pytest

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkLWp3dCJ9.c2lnbmF0dXJlLXBsYW50ZWQ"
PEM = "-----BEGIN PRIVATE KEY-----\nMIIplantedpem0123\n-----END PRIVATE KEY-----"
AKIA = "AKIAPLANTED0KEY01234"
PARTS = ["planted-token", "planted-password", "planted-url-password", "planted-option", "planted-secret",
         "c2lnbmF0dXJlLXBsYW50ZWQ", "MIIplantedpem0123", AKIA]
VARIABLES = {"API_TOKEN": "planted-token", "SLURM_DB_PASSWORD": "planted-password",
             "CUDA_REPOSITORY": "https://me:planted-url-password@host/x", "OMP_NOTE": JWT,
             "MY_CERTIFICATE": PEM, "NCCL_ID": AKIA, "CLIENT_SECRET": "planted-secret",
             "OMP_ARGS": "--token planted=1 --api-key=planted-option"}
ARGUMENTS = ["--token", "planted-token", "--db-password=planted-password", "CLIENT_SECRET=planted-secret",
             "postgres://me:planted-url-password@db/x", JWT, PEM, AKIA, "--api-key", "planted-option",
             "-H", "Authorization: Bearer planted-secret"]
COMMANDS = [
    ["capture", "--json"], ["capture", "--table"],
    ["capture", "--types", "process,cgroup,tree,load", "--json"],
    ["capture", "--machine", "--json"], ["capture", "--machine", "--table"],
    ["capture", "--machine", "--json", "--environment", "all"],
    ["doctor"], ["doctor", "--json"], ["check"], ["check", "--json"], ["check", "--print"],
    ["version"], ["--version"], ["--help"], ["help"], [],
]


def assert_clean(done):
    for part in PARTS:
        assert part not in done.out and part not in done.err, part


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_environment(sonde, command):
    assert_clean(sonde(*command, env=VARIABLES))


def test_every_command_there_is(sonde):
    """Also those that came after this test: with a secret for an argument, and in the environment."""
    names = re.findall(r"^  (\w+) ", sonde("--help").out, re.M)
    assert {"capture", "doctor", "check", "version"} <= set(names)
    for name in names:
        assert_clean(sonde(name, "--help", env=VARIABLES))
        assert_clean(sonde(name, JWT, env=VARIABLES))
        assert_clean(sonde(name, "--token=planted-token", env=VARIABLES))


@pytest.fixture
def stranger():
    """A process whose arguments are full of secrets."""
    process = subprocess.Popen([sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(60)",
                                *ARGUMENTS], stdout=subprocess.PIPE)
    process.stdout.readline()
    yield process.pid
    process.kill()
    process.communicate()


@pytest.mark.parametrize("command", [["capture", "--json"], ["capture", "--table"], ["doctor"],
                                     ["doctor", "--json"],
                                     ["capture", "--types", "process,tree", "--level", "full"]], ids=" ".join)
def test_arguments_of_a_process(sonde, stranger, command):
    done = sonde(*command, "--pid", stranger)
    assert done.code == 0
    assert_clean(done)


def test_the_rest_of_the_arguments_is_there(capture, stranger):
    arguments = capture("--types", "process", "--pid", stranger)["process"]["cmd_line"]
    assert len(arguments) == 3 + len(ARGUMENTS)
    assert arguments[3:6] == ["--token", "***", "--db-password=***"] and "postgres://***@db/x" in arguments


@pytest.mark.parametrize("first", ["capture", "doctor", "check", "version", "nothing"])
@pytest.mark.parametrize("argument", [JWT, AKIA, "postgres://me:planted-url-password@db/x",
                                      "--api-key=planted-option", "--token=planted-token"])
def test_own_arguments(sonde, first, argument):
    done = sonde(first, argument)
    assert done.code == 2
    assert_clean(done)


@pytest.mark.parametrize("option", ["--types", "--level", "--pid", "--interval", "--count"])
def test_values_of_options(sonde, option):
    done = sonde("capture", option, JWT)
    assert done.code == 2
    assert_clean(done)


@pytest.mark.parametrize("text", [f"telemetry_capture:\n  level: {AKIA}\n", f"telemetry_capture:\n  {AKIA}: 1\n",
                                  "telemetry_capture:\n  password: planted-password\n"])
@pytest.mark.parametrize("command", [["check"], ["check", "--json"], ["capture"]], ids=" ".join)
def test_settings(sonde, folder, text, command):
    (folder / "settings.yaml").write_text(text)
    done = sonde(*command)
    assert done.code == 2
    assert_clean(done)
