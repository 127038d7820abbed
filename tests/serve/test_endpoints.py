# SPDX-License-Identifier: Apache-2.0
"""Each endpoint, by what docs/openapi.json says of it, with programs that run and sessions that were."""
import gzip
import json
import re
import signal
import subprocess
import urllib.request

import jsonschema
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from conftest import BUILD, PROGRAM, ROOT

OPENAPI = json.loads((ROOT / "docs" / "openapi.json").read_text())
OPENMETRICS = "application/openmetrics-text;version=1.0.0"


def schema(name):
    def plain(node):  # OpenAPI 3.0's nullable, in JSON Schema's words
        if isinstance(node, list):
            return [plain(one) for one in node]
        if not isinstance(node, dict):
            return node
        node = {key: plain(value) for key, value in node.items()}
        if node.pop("nullable", False):
            node["type"] = [node["type"], "null"]
        if node.get("type") == "object" and "properties" in node:
            node["additionalProperties"] = False
        return node
    return {**plain(OPENAPI["components"]["schemas"][name]), "components": plain(OPENAPI["components"])}


def check(body, name):
    value = json.loads(body)
    jsonschema.validate(value, schema(name))
    return value


def samples(families):
    return [sample for family in families for sample in family.samples]


def value_of(page, name, **labels):
    found = [s.value for s in samples(prometheus(page))
             if s.name == name and all(s.labels.get(k) == v for k, v in labels.items())]
    assert len(found) == 1, (name, labels, found)
    return found[0]


def test_openapi_is_served_and_true(serve, watched):
    watched("one", tasks=20)
    server = serve("--interval", "100ms")
    assert server.json("/api/v1/openapi.json") == OPENAPI
    listed = server.get("/")[2].decode().split()
    assert sorted(listed) == sorted(OPENAPI["paths"])
    for path, item in OPENAPI["paths"].items():
        if path == "/api/v1/stream":
            continue
        ok = item["get"]["responses"]["200"]["content"]
        status, headers, body = server.get(path)
        assert status == 200, (path, body)
        assert headers["Content-Type"].partition(";")[0] in ok
        name = ok.get("application/json", {}).get("schema", {}).get("$ref", "").rpartition("/")[2]
        if name:
            check(body, name)


def test_snapshot_of_all_and_of_one(serve, watched):
    one, two = watched("one", tasks=20), watched("two", tasks=5)
    server = serve("--interval", "100ms")
    tasks = server.json("/api/v1/snapshot")["tasks"]
    assert tasks == {"executed": 25, "failed": 2, "pending": 0}
    assert server.json(f"/api/v1/snapshot?process={one.pid}")["tasks"]["executed"] == 20
    assert server.json(f"/api/v1/snapshot?process={two.pid}")["tasks"]["executed"] == 5
    status, _, body = server.get("/api/v1/snapshot?process=1")
    assert status == 404 and "no instrumented process" in check(body, "Error")["error"]
    history = server.settled(lambda: [s for s in [server.json("/api/v1/snapshots?limit=3")] if len(s) == 3])[0]
    assert [s["timestamp"] for s in history] == sorted(s["timestamp"] for s in history)
    assert history[-1]["system"]["memory_mb"] > 0


@pytest.mark.parametrize("path, said", [
    ("/api/v1/snapshots?limit=0", "limit: a number from 1 to 300"), ("/api/v1/snapshots?limit=301", "limit"),
    ("/api/v1/tasks?limit=x", "limit"), ("/api/v1/tasks?session=../../etc/passwd", "session: letters"),
    ("/api/v1/tasks?session=%2e%2e%2fx", "session: letters"), ("/api/v1/tasks?session=.hidden", "session: letters"),
    ("/api/v1/spans?format=xml", "format: spans, jaeger or otlp-json"),
    ("/api/v1/tasks?session=a&session=b", "not valid"), ("/api/v1/tasks?session=%00", "not valid"),
    ("/metrics?" + "a" * 5000, "too long")])
def test_wrong_parameters(serve, path, said):
    status, _, body = serve().get(path)
    assert status == 400 and said in check(body, "Error")["error"]


@pytest.mark.parametrize("path", ["/metrics/", "//metrics", "/metrics%00", "/%6detrics", "/./metrics",
                                  "/../etc/passwd", "/api/v1/../v1/snapshot", "/api/v1", "/favicon.ico"])
def test_paths_are_only_compared(serve, path):
    assert serve().get(path)[0] == 404


def test_sessions_tasks_and_spans(serve, watched, folder, environment):
    subprocess.run([PROGRAM, "run", "--quiet", "--session", "old", "--", BUILD / "bin" / "example_nested_tasks"],
                   cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    program = watched("live", tasks=30)
    server = serve()
    found = check(server.get("/api/v1/sessions")[2], "Sessions")
    assert {one["name"] for one in found["sessions"]} == {"old", "live"}
    assert [(p["pid"], p["program"], p["session"], p["metrics"]) for p in found["processes"]] == [
        (program.pid, "served_program", "live", "shared")]
    tasks = check(server.get("/api/v1/tasks?session=live&limit=7")[2], "Tasks")
    assert (tasks["total"], tasks["shown"], len(tasks["tasks"]), tasks["lost"]) == (30, 7, 7, 0)
    assert {task["activity_id"] for task in tasks["tasks"]} == {"step"}
    whole = server.json("/api/v1/tasks?session=live")
    assert whole["shown"] == 30 and whole["tasks"][-7:] == tasks["tasks"]
    assert server.json("/api/v1/tasks?session=live&activity=none")["total"] == 0
    names = [task["activity_id"] for task in server.json("/api/v1/tasks?session=old")["tasks"]]
    dumped = subprocess.run([PROGRAM, "dump", folder / "telemetry" / "old.sonde"], env=environment,
                            capture_output=True, text=True, check=True).stdout
    assert names == [r["activity_id"] for r in map(json.loads, dumped.splitlines()) if r["type"] == "task"]
    assert server.get("/api/v1/tasks?session=none")[0] == 404


def test_stream(serve, watched):
    program = watched("live", tasks=8)
    server = serve("--interval", "100ms")
    with urllib.request.urlopen(server.url + "/api/v1/stream", timeout=10) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        ids = []
        while len(ids) < 3:
            line = stream.readline().decode().rstrip("\n")
            if line.startswith("id: "):
                ids.append(int(line[4:]))
            if line.startswith("data: "):
                assert check(line[6:], "Snapshot")["tasks"]["executed"] == 8
        assert ids == sorted(set(ids))
        assert server.json("/healthz")["connections"]["streams"] == 1
    assert program.poll() is None
    assert server.settled(lambda: server.json("/healthz")["connections"]["streams"] == 0)


def test_health(serve):
    server = serve("--interval", "50ms")
    first = check(server.get("/healthz")[2], "Health")
    assert first["status"] == "ok"
    assert server.settled(lambda: server.json("/healthz")["ticks"] > first["ticks"] + 2)


def test_metrics_formats(serve, watched):
    program = watched("fmt", series=10, tasks=10)
    server = serve()
    kind, body = server.metrics()
    assert kind == "text/plain; version=0.0.4; charset=utf-8"
    text = body.decode()
    mine = {"session": "fmt", "program": "served_program", "pid": str(program.pid)}
    assert value_of(text, "test_events_0_total", shard="7", method="GET", zone="eu-1", **mine) == 8
    assert value_of(text, "test_odd_total", text="a\"b\\c\nd\N{REPLACEMENT CHARACTER}", **mine) == 3
    assert value_of(text, "sonde_task_latency_seconds_count", activity="step", **mine) == 10
    assert 'sonde_host_memory_bytes{kind="total"}' in text
    kind, body = server.metrics(OPENMETRICS + ",text/plain;q=0.5")
    assert kind.startswith("application/openmetrics-text; version=1.0.0")
    families = {family.name for family in openmetrics(body.decode())}
    assert {"test_events_0", "sonde_task_latency_seconds"} <= families
    for accept in ("*/*", "text/html, */*;q=0.1", "application/json", ""):
        assert server.metrics(accept)[0].startswith("text/plain")


def test_pyveda_profile(serve, watched):
    watched("guide", tasks=12)
    text = serve("--profile", "pyveda").metrics()[1].decode()
    assert value_of(text, "pyveda_tasks_executed_total") == 12
    assert value_of(text, "pyveda_tasks_failed_total") == 1
    assert value_of(text, "pyveda_latency_ms", quantile="0.95") > 0


def test_gzip_has_the_same_bytes(serve, watched):
    watched("zip", series=2000)
    server = serve("--no-host")
    plain = server.get("/metrics")[2]
    status, headers, packed = server.get("/metrics", {"Accept-Encoding": "gzip"})
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert len(packed) < len(plain) / 4 and gzip.decompress(packed) == plain
    assert "Content-Encoding" not in server.get("/metrics", {"Accept-Encoding": "gzip;q=0"})[1]


def test_three_at_once_and_one_is_killed(serve, watched, folder, environment):
    """Two instrumented programs and sonde run: each with its labels; killing one leaves the others."""
    one, two = watched("one", series=5, tasks=20), watched("two", series=5, tasks=7)
    run = subprocess.Popen([PROGRAM, "run", "--quiet", "--session", "three", "--",
                            BUILD / "bin" / "example_long_job", "30"], cwd=folder, env=environment)
    server = serve()

    def sessions():
        return {s.labels["session"] for s in samples(prometheus(server.metrics()[1].decode()))
                if s.name == "sonde_task_latency_seconds_count"}
    assert server.settled(lambda: sessions() >= {"one", "two", "three"})
    text = server.metrics()[1].decode()
    assert value_of(text, "sonde_task_latency_seconds_count", session="one", activity="step") == 20
    assert value_of(text, "sonde_task_latency_seconds_count", session="two", activity="step") == 7
    one.send_signal(signal.SIGKILL)
    one.wait()
    assert server.settled(lambda: "one" not in sessions())
    text = server.metrics()[1].decode()
    assert value_of(text, "sonde_task_latency_seconds_count", session="two", activity="step") == 7
    assert value_of(text, "test_events_0_total", session="two", shard="3") == 4
    assert "three" in sessions()
    recovered = subprocess.run([PROGRAM, "dump", folder / "telemetry" / "one.sonde"], env=environment,
                               capture_output=True, text=True, check=True).stdout
    assert len(re.findall('"activity_id":"step"', recovered)) == 20
    run.terminate()
    run.wait(timeout=20)
