# SPDX-License-Identifier: Apache-2.0
"""sonde aggregate: records in, metrics out; bad input, state, import, Prometheus."""
import http.server
import json
import os
import pty
import signal
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import pytest

from conftest import PROGRAM, ROOT, SANITIZE, read_terminal

VECTORS = ROOT / "tests" / "vectors" / "tao"
NOW = "2025-03-15T12:34:56"
JOB = {"version": "5.3.0", "action": "train", "network": "ResNet-50", "success": True,
       "gpu": ["NVIDIA A100", "NVIDIA A100"], "time_lapsed": 3600, "user_error": False}
FOUR = "legacy,comprehensive,time,labeled"


@pytest.fixture
def lines(folder):
    """lines(*records, name=...): a file of JSON Lines; texts and bytes stand as they are."""
    def write(*records, name="jobs.jsonl"):
        path = folder / name
        with open(path, "wb") as file:
            for record in records:
                if isinstance(record, dict):
                    record = json.dumps(record)
                file.write((record.encode() if isinstance(record, str) else record) + b"\n")
        return path
    return write


@pytest.fixture
def metrics(sonde):
    """metrics(*args): what `sonde aggregate --to json ARGS` prints, all being well."""
    def run(*args, **more):
        done = sonde("aggregate", "--to", "json", "--now", NOW, *args, **more)
        assert (done.code, done.err) == (0, ""), done
        return json.loads(done.out)
    return run


CASES = [case for case in json.loads((VECTORS / "tao_cases.json").read_text())
         if case["old_now"] is None and case["expect"]["default4"]["error"] is None]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_vectors_in_compat(case, sonde, lines, folder):
    (folder / "initial.json").write_text(json.dumps(case["initial"]))
    done = sonde("aggregate", "--compat", "--builders", FOUR, "--now", case["now"], "--import",
                 "initial.json", lines(case["raw"]))
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == case["expect"]["default4"]["metrics"]


def test_lines_array_and_stdin_say_the_same(metrics, lines, folder):
    jobs = [{**JOB, "network": f"net {i % 7}"} for i in range(1000)]
    expected = metrics(lines(*jobs))
    assert expected["total_action_train_pass"] == 1000
    assert expected["time_lapsed_today"] == 3600 * 1000
    (folder / "array.json").write_text(json.dumps(jobs, indent=2))
    assert metrics("array.json") == expected
    assert metrics(stdin=open(folder / "jobs.jsonl")) == expected
    assert metrics("-", stdin=open(folder / "array.json")) == expected
    assert metrics("jobs.jsonl", "array.json")["total_action_train_pass"] == 2000


def test_nothing_in_nothing_out(metrics, lines):
    assert metrics(lines()) == {}
    assert metrics(lines("", "  ", "\r")) == {}
    assert metrics(lines("[]")) == {}


def test_line_ends_and_a_last_line_without_one(metrics, folder):
    (folder / "jobs").write_bytes(b'\n  {"action": "a"}\r\n\t{"action": "a"}')
    assert metrics("jobs")["total_action_a_fail"] == 2


def test_builders(metrics, sonde, lines):
    path = lines(JOB)
    assert list(metrics("--builders", "time", path)) == ["time_lapsed_today", "last_updated"]
    assert len(metrics("--builders", FOUR, path)) == 4 + 1 + 1 + 4 + 1
    assert len(metrics(path)) == 4 + 1 + 1 + 1
    done = sonde("aggregate", "--builders", "time,legasy", path)
    assert done == (2, "", 'sonde aggregate: --builders: unknown builder "legasy"; did you mean '
                           '"legacy"?\n')
    done = sonde("aggregate", "--builders", "frobnicate", path)
    assert done.code == 2 and "known are: legacy comprehensive time labeled" in done.err
    done = sonde("aggregate", "--builders", "time,time", path)
    assert done == (2, "", "sonde aggregate: there are two builders named time\n")


@pytest.mark.parametrize("args, message", [
    (["--to", "xml"], '--to: "xml" is not json, prometheus or table'),
    (["--now", "yesterday"], '--now: "yesterday" is not a time like 2025-03-15T12:34:56'),
    (["--now", "2025-02-29"], '--now: "2025-02-29" is not a time like 2025-03-15T12:34:56'),
    (["--dry-run"], "--replace and --dry-run go with --import FILE"),
    (["--replace"], "--replace and --dry-run go with --import FILE"),
    (["--dry-run", "--import", "x", "y"], "--dry-run counts no records; leave out the files"),
])
def test_wrong_command_lines(sonde, args, message):
    assert sonde("aggregate", *args) == (2, "", f"sonde aggregate: {message}\n")


def test_files_that_cannot_be_read(sonde, folder, lines):
    lines(JOB)
    done = sonde("aggregate", "jobs.jsonl", "missing.jsonl")
    assert (done.code, done.out) == (1, "")
    assert done.err == "sonde aggregate: missing.jsonl: No such file or directory\n"
    assert sonde("aggregate", folder).err == f"sonde aggregate: {folder}: Is a directory\n"


# what is bad about a record, and what is said about it
BAD = {
    "invalid JSON": ('{"action": "train"', "not valid JSON at byte 19: "),
    "not JSON at all": ("hello", "not valid JSON at byte 1: "),
    "two records in a line": ('{} {}', "not valid JSON at byte "),
    "wrong type": ('{"success": "yes"}', "success is text; expected true or false"),
    "no record": ("12", "the record is a number; expected an object"),
    "10 MB text": ('{"network": "%s"}' % ("x" * 10000000), "network has 10000000 bytes; at most 4096"),
    "10 MB of escapes": ('{"network": "%s"}' % ("\\u0041" * 1700000), "network has 10200000 bytes"),
    "10 MB key": ('{"%s": 1, "success": 0}' % ("k" * 10000000), "success is a number"),
    "invalid UTF-8": (b'{"network": "\xff\xfe"}', "not valid JSON at byte 14: "),
    "overlong UTF-8": (b'{"network": "\xc0\xaf"}', "not valid JSON at byte 14: "),
    "negative time": ('{"time_lapsed": -5}', "time_lapsed: -5 is negative; expected seconds"),
    "huge time": ('{"time_lapsed": 1e300}', "time_lapsed: 1e300 is more than three centuries"),
    "100 000 GPUs": (json.dumps({"gpu": ["A100"] * 100000}), "gpu has more than 4096 elements"),
    "deeply nested": ('{"x": %s1%s}' % ("[" * 1000, "]" * 1000), "not valid JSON at byte "),
    "deep inside": ('{"network": %s1%s}' % ('{"a":' * 60, "}" * 60), "network is an object"),
    "key twice": ('{"action": "a", "action": "b"}', "action is given twice"),
    "NUL byte": (b'{"network": "a\0b"}', "not valid JSON at byte "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_record_is_reported_and_the_others_are_counted(sonde, lines, name):
    bad, reason = BAD[name]
    done = sonde("aggregate", lines(JOB, "", bad, JOB), timeout=60)
    assert done.code == 1
    assert json.loads(done.out)["total_action_train_pass"] == 2
    assert len(json.loads(done.out)) == 7  # nothing of the bad one
    first, last = done.err.splitlines()
    assert first.startswith(f"sonde aggregate: {ROOT.root}") and f"jobs.jsonl:3: {reason}" in first
    assert last == "sonde aggregate: 2 records counted, 1 refused"


@pytest.mark.parametrize("name", BAD)
def test_strict_stops_at_the_first(sonde, lines, folder, name):
    bad, reason = BAD[name]
    done = sonde("aggregate", "--strict", "--state", "usage", lines(JOB, bad, "{", JOB), timeout=60)
    assert (done.code, done.out) == (1, "")
    assert f":2: {reason}" in done.err and ":3:" not in done.err
    assert done.err.endswith("sonde aggregate: stopped; nothing of this was counted\n")
    assert json.loads(sonde("aggregate", "--state", "usage").out) == {}


def test_bad_elements_of_an_array(sonde, folder):
    (folder / "array.json").write_text('[{"action": "a"},\n 5,\n\n {"success": 1},\n {"action": "a"}]')
    done = sonde("aggregate", "array.json")
    assert done.code == 1 and json.loads(done.out)["total_action_a_fail"] == 2
    assert done.err.splitlines() == [
        "sonde aggregate: array.json:2: the record is a number; expected an object",
        "sonde aggregate: array.json:4: success is a number; expected true or false",
        "sonde aggregate: 2 records counted, 2 refused"]


def test_array_that_breaks_off(sonde, folder):
    (folder / "array.json").write_text('[{"action": "a"},\n{"action": "a"},\n{"action')
    done = sonde("aggregate", "array.json")
    assert done.code == 1 and json.loads(done.out)["total_action_a_fail"] == 2
    assert "array.json:3: not valid JSON: " in done.err
    assert "; the rest of the array is not read\n" in done.err
    (folder / "array.json").write_text('[{"action": "a"}] x')
    assert "array.json:1: not valid JSON: " in sonde("aggregate", "array.json").err


def test_attributes_from_settings(metrics, sonde, lines, folder):
    (folder / "settings.yaml").write_text(
        "attributes:\n  builders: [comprehensive]\n  table:\n"
        "    - {name: framework, default: PyTorch, metric_order: 6}\n"
        "    - {name: dry_run, raw_key: dryRun, type: boolean, default: off, metric_order: 2}\n"
        "    - {name: epochs, type: integer, default: 1}\n")
    assert metrics(lines({**JOB, "framework": "Tensor-Flow", "epochs": 30}, JOB)) == {
        "network_resnet_50_action_train_dry_run_false_version_5_3_0_status_pass_framework_tensor_flow_"
        "epochs_30_gpu_2_NVIDIA_A100_2": 1,
        "network_resnet_50_action_train_dry_run_false_version_5_3_0_status_pass_framework_pytorch_"
        "epochs_1_gpu_2_NVIDIA_A100_2": 1,
        "last_updated": NOW}
    done = sonde("aggregate", lines({**JOB, "epochs": 1.5}))
    assert "epochs: 1.5 is not a whole number of 64 bits" in done.err
    # what is written is read again, and says the same
    (folder / "again.yaml").write_text(sonde("check", "--print").out)
    assert sonde("check", "again.yaml").code == 0
    assert metrics("--settings", "again.yaml", lines(JOB)) == metrics("jobs.jsonl")
    assert sonde("check", "--print", "again.yaml").out == (folder / "again.yaml").read_text()


def test_attributes_in_place_of_the_built_in_ones(metrics, lines, folder):
    (folder / "settings.yaml").write_text(
        "attributes:\n  builtin: false\n  builders: [comprehensive]\n  table:\n"
        "    - {name: success, type: boolean, include_in_comprehensive: false}\n"
        "    - {name: gpus, raw_key: devices, type: list, default: [cpu, cpu]}\n"
        "    - {name: team, metric_order: 1, default: nobody}\n")
    assert metrics(lines({"team": "Vision & Speech"}, {"success": True, "devices": "A1"})) == {
        "team_vision___speech_status_fail_gpu_2_CPU_2": 1,
        "team_nobody_status_pass_gpu_1_A1_1": 1, "last_updated": NOW}


@pytest.mark.parametrize("text, message", [
    ("table: [{name: x, nmae: y}]", ':2:21: unknown key "nmae" in attributes.table; did you mean "name"?'),
    ("table: [{type: string}]", ":2:11: attributes.table has an element without a name"),
    ("table: [{name: x, type: text}]", ':2:27: type of attributes.table is "text"; expected string, '),
    ("table: [{name: x, metric_order: -1}]", ':2:35: metric_order of attributes.table is "-1"; expected '),
    ("table: [{name: x, name: y}]", ':2:21: "name" is given twice; remove one'),
    ("table: [x]", ":2:11: attributes.table has an element that is no block"),
    ("table: 5", ':2:10: attributes.table is "5"; expected ~ or a list of blocks with name, raw_key'),
    ("compat: downstream", ':2:11: attributes.compat is "downstream"; expected upstream or ~'),
    ("builders: [legacy, tme]", ':2:22: attributes.builders has "tme"; did you mean "time"?'),
    ("max_metrics: 0", ':2:16: attributes.max_metrics is "0"; expected a whole number from 1'),
])
def test_wrong_settings(sonde, folder, lines, text, message):
    (folder / "settings.yaml").write_text(f"attributes:\n  {text}\n")
    done = sonde("aggregate", lines(JOB))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("sonde aggregate: settings.yaml" + message), done.err


def test_attributes_that_make_no_sense(sonde, folder, lines):
    (folder / "settings.yaml").write_text("attributes: {table: [{name: x, raw_key: gpu}]}\n")
    assert sonde("aggregate", lines(JOB)) == (
        2, "", 'sonde aggregate: settings.yaml:1:22: attributes.table: attribute x: the raw_key '
               '"gpu" belongs to gpus\n')
    done = sonde("check")
    assert done.code == 2
    assert "settings.yaml:1:22: attributes.table: attribute x: " in done.out + done.err
    (folder / "settings.yaml").write_text("attributes: {builtin: false, builders: [time]}\n")
    done = sonde("check")
    assert done.code == 2
    assert "settings.yaml: attributes: builder time needs the attribute" in done.out + done.err


def test_limit_of_metrics(metrics, lines, folder):
    (folder / "settings.yaml").write_text("attributes: {max_metrics: 10, builders: [legacy]}\n")
    result = metrics(lines(*({"action": f"a{i}"} for i in range(100))))
    assert len(result) == 10 + 2
    assert result["sonde_overflow_total"] == 4 * 100 - 10


def test_state(metrics, sonde, lines, folder):
    path = lines(JOB, {**JOB, "success": False})
    for run in range(1, 4):
        result = metrics("--state", "usage", path)
        assert result["total_action_train_pass"] == result["total_action_train_fail"] == run
    assert metrics("--state", "usage") == result
    (folder / "other").write_text("something else")
    done = sonde("aggregate", "--state", "other", path)
    assert done == (1, "", "sonde aggregate: other: this is not a file of usage metrics\n")
    assert (folder / "other").read_text() == "something else"


def test_a_pipe_is_committed_as_time_goes_by(sonde, environment, folder):
    feeder = subprocess.Popen([PROGRAM, "aggregate", "--state", "usage", "-"], env=environment, cwd=folder,
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0)
    deadline = time.monotonic() + 30
    counted = 0
    while not counted and time.monotonic() < deadline:
        feeder.stdin.write(b'{"action": "a"}\n')
        time.sleep(0.1)
        shown = json.loads(sonde("aggregate", "--state", "usage").out)
        counted = shown.get("total_action_a_fail", 0)
    feeder.kill()
    feeder.wait()
    assert counted > 0


@pytest.mark.parametrize("size", [100000 if not SANITIZE else 5000])
def test_processes_add_to_one_state(metrics, environment, folder, size):
    """Runs that add a file each; one is killed at some moment: its file counts wholly or not at all."""
    with open(folder / "jobs.jsonl", "w") as file:
        for i in range(size):
            file.write(json.dumps({**JOB, "network": f"n{i % 50}"}) + "\n")
    runs = [subprocess.Popen([PROGRAM, "aggregate", "--state", "usage", "jobs.jsonl"], env=environment,
                             cwd=folder, stdout=subprocess.DEVNULL) for _ in range(4)]
    time.sleep(0.03 + os.getpid() % 50 / 1000)
    runs[0].send_signal(signal.SIGKILL)
    codes = [run.wait(timeout=120) for run in runs]
    assert codes[1:] == [0, 0, 0]
    result = metrics("--state", "usage")
    total = result["total_action_train_pass"]
    assert total in (3 * size, 4 * size)
    assert result["gpu_nvidia_a100_action_train"] == 2 * total
    assert sum(v for k, v in result.items() if k.startswith("network_n") and "version" not in k) == total
    assert result["time_lapsed_today"] == 3600 * total


def test_import(metrics, sonde, lines, folder):
    metrics("--state", "usage", lines(JOB))
    (folder / "doc.json").write_text(json.dumps({"total_action_train_pass": 10, "other": 2.5}))
    done = sonde("aggregate", "--state", "usage", "--import", "doc.json", "--dry-run")
    assert done == (0, "doc.json: would add 1 metrics, change 1, leave 0 the same, remove 0\n", "")
    assert metrics("--state", "usage")["total_action_train_pass"] == 1
    merged = metrics("--state", "usage", "--import", "doc.json")
    assert (merged["total_action_train_pass"], merged["other"], len(merged)) == (10, 2.5, 8)
    assert metrics("--state", "usage", "jobs.jsonl")["total_action_train_pass"] == 11
    done = sonde("aggregate", "--state", "usage", "--import", "doc.json", "--replace", "--dry-run")
    assert done.out == "doc.json: would add 0 metrics, change 1, leave 1 the same, remove 5\n"
    replaced = metrics("--state", "usage", "--import", "doc.json", "--replace")
    assert replaced == {"total_action_train_pass": 10, "other": 2.5}
    # what is exported can be imported elsewhere and is the same
    (folder / "export.json").write_text(json.dumps(metrics("--state", "usage", "jobs.jsonl")))
    assert metrics("--import", "export.json") == json.loads((folder / "export.json").read_text())


@pytest.mark.parametrize("text, reason", [
    ("{", "not valid JSON at byte 2: "), ("[]", "not one JSON object of metrics"),
    ('{"a": 1, "a": 2}', "a is given twice"), ('{"a": 1e999}', "a is too large for a number"),
    ('{"last_updated": "yesterday"}', "last_updated is not a date and time"),
    ('{"": 1}', "the name of a metric has 0 bytes"), ("", "not valid JSON at byte 1: "),
])
def test_bad_document(metrics, sonde, lines, folder, text, reason):
    before = metrics("--state", "usage", lines(JOB))
    (folder / "doc.json").write_text(text)
    done = sonde("aggregate", "--state", "usage", "--import", "doc.json")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"sonde aggregate: doc.json: {reason}")
    assert metrics("--state", "usage") == before


def test_table(sonde, lines, sonde_in_terminal):
    path = lines({"action": "train\u001b[2J", "gpu": "A"})
    done = sonde("aggregate", "--to", "table", "--now", NOW, "--builders", "legacy", path)
    assert done.out == ("         value  metric\n"
                        "             1  total_action_train__2j_fail\n"
                        "             1  version_unknown_action_train__2j\n"
                        "             1  network_unknown_action_train__2j\n"
                        "             1  gpu_a_action_train__2j\n"
                        f"last updated {NOW}\n")
    assert "metric" in sonde_in_terminal("aggregate", path).out


def test_progress_on_a_terminal(environment, folder):
    """Records through a slow pipe: what has been counted is shown, and gone at the end."""
    master, terminal = pty.openpty()
    process = subprocess.Popen([PROGRAM, "aggregate", "-"], env=environment, cwd=folder, stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=terminal, bufsize=0)
    os.close(terminal)
    for _ in range(25):
        process.stdin.write(b'{"action": "a"}\n')
        time.sleep(0.1)
    process.stdin.close()
    text = read_terminal(master)
    os.close(master)
    assert process.wait() == 0
    assert "MB read, " in text and "records counted, 0 refused" in text
    assert text.endswith("\r\x1b[K")


AWKWARD = [JOB, {**JOB, "success": False, "time_lapsed": 0.5}, {**JOB, "gpu": ['A"100\\x', "X1\ny2"]},
           {**JOB, "gpu": []}, {**JOB, "network": "réseau 深度", "gpu": ["Größe 1"]}, {}]


def test_promtool_finds_nothing_to_say(sonde, lines):
    text = sonde("aggregate", "--to", "prometheus", lines(*AWKWARD)).out
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert 'sonde_usage_jobs_total{action="train",' in text
    assert 'gpu_type="A\\"100\\\\X"' in text and 'primary_gpu="X1\\nY2"' in text
    assert "tao_" not in text


def test_base_names_of_metrics_counted_in_compat(sonde, lines):
    """A state filled with --compat holds labels unescaped; what is shown is escaped all the same."""
    sonde("aggregate", "--compat", "--builders", FOUR, "--state", "usage", lines(*AWKWARD[:5]))
    text = sonde("aggregate", "--state", "usage", "--to", "prometheus").out
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def served():
    """served(text): a port of the loopback interface where /metrics says text."""
    servers = []

    def serve(text):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *args):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.server_port
    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def prometheus(tmp_path):
    """prometheus(port): a server that scrapes that port each second; returns its query function."""
    started = []

    def start(target):
        port = free_port()
        config = tmp_path / "prometheus.yml"
        config.write_text("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: sonde\n"
                          f"  static_configs: [{{targets: ['127.0.0.1:{target}']}}]\n")
        log = open(tmp_path / "prometheus.log", "w")
        started.append(subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--web.listen-address=127.0.0.1:{port}",
             f"--storage.tsdb.path={tmp_path / 'tsdb'}"], stdout=log, stderr=log))

        def get(path, **parameters):
            url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
            with urllib.request.urlopen(url, timeout=10) as reply:
                return json.load(reply)["data"]
        return get
    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=30)


def wait_for(what, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = what()
            if found:
                return found
        except OSError:
            pass
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.2)


@pytest.mark.parametrize("compat", [True, False])
def test_prometheus_scrapes_it(sonde, lines, served, prometheus, compat):
    done = sonde("aggregate", "--to", "prometheus", *(["--compat"] if compat else []), lines(*AWKWARD))
    assert (done.code, done.err) == (0, "")
    samples = sum(not line.startswith("#") for line in done.out.splitlines())
    get = prometheus(served(done.out))
    name = "tao_job_gpu_total" if compat else "sonde_usage_job_gpus_total"
    found = wait_for(lambda: get("query", query=name)["result"])
    types = {sample["metric"]["tao_gpu_type" if compat else "gpu_type"] for sample in found}
    assert types == {"A100", 'A"100\\X', "X1\nY2", "GRÖSSE", "UNKNOWN"}
    target, = get("targets")["activeTargets"]
    assert (target["health"], target["lastError"]) == ("up", "")
    scraped, = get("query", query="scrape_samples_scraped")["result"]
    assert int(scraped["value"][1]) == samples


def test_workflows_of_a_session(sonde, metrics, environment, folder):
    subprocess.run([PROGRAM.parent / "example_nested_tasks", "telemetry"], env=environment, cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    done = sonde("aggregate", "telemetry/nested.sonde")
    assert done == (1, "", "sonde aggregate: telemetry/nested.sonde: a session; its workflows are counted "
                           "with attributes: {enabled: true} in the settings\n")
    (folder / "settings.yaml").write_text("attributes: {enabled: true}\n")
    result = metrics("telemetry/nested.sonde")
    assert result["total_action_nested_pass"] == 1
    assert 0 < result["time_lapsed_today"] < 60


def test_a_run_is_counted_when_it_ends(sonde, metrics, folder):
    (folder / "settings.yaml").write_text("attributes: {enabled: true}\n")
    assert sonde("run", "--session", "job", "--", "true").code == 0
    assert sonde("run", "--session", "job", "--", "false").code == 1
    result = metrics("--state", "telemetry/usage.metrics")
    assert (result["total_action_job_pass"], result["total_action_job_2_fail"]) == (1, 1)
    again = metrics("--state", "telemetry/usage.metrics", "telemetry/job.sonde", "telemetry/job_2.sonde")
    assert again == result | {"last_updated": again["last_updated"]}
