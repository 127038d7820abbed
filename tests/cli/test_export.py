# SPDX-License-Identifier: Apache-2.0
"""sonde export: what was recorded arrives in every format, read by the programs it is made for."""
import base64
import csv
import io
import json
import math
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import pytest

from conftest import BUILD, ROOT, clean_environment
from sessions import log, packet

sys.path.insert(0, str(ROOT / "build" / "test-python"))  # opentelemetry-proto, see tools/setup

FORMATS = ["prometheus", "openmetrics", "prometheus-protobuf", "json", "otlp-json", "otlp", "jaeger",
           "spans", "statsd", "dogstatsd", "cloudwatch", "flowcept", "csv"]


@pytest.fixture(scope="module")
def shm():
    """A folder for segments that nobody else uses; its path has to be short."""
    with tempfile.TemporaryDirectory(prefix="x", dir="/dev/shm") as path:
        yield path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, shm):
    folder = tmp_path_factory.mktemp("export")
    done = subprocess.run([BUILD / "bin" / "export_session"], cwd=folder, timeout=60, check=False,
                          env={**clean_environment(folder), "SONDE_SHM_DIR": shm})
    assert done.returncode == 0
    return folder / "telemetry" / "all.sonde"


@pytest.fixture
def export(recorded, environment, folder, shm):
    environment["SONDE_SHM_DIR"] = shm

    def run(*args):
        done = subprocess.run([BUILD / "bin" / "sonde", "export", recorded, *args], cwd=folder,
                              env=environment, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, b""), done
        return done.stdout
    return run


def tasks(export):
    """What was recorded, as the program's own dump has it: by activity."""
    records = [json.loads(line) for line in export("--to", "flowcept").splitlines()]
    return {one["activity_id"]: one for one in records if one["type"] == "task" and "ended_at" in one}


# --- metrics ---

def test_promtool_finds_nothing_to_complain_about(export):
    done = subprocess.run(["promtool", "check", "metrics"], input=export("--to", "prometheus"),
                          capture_output=True, timeout=60, check=False)
    # the helper's own counter without _total is what promtool is right about
    assert done.stderr.decode().splitlines() == ['odd_name counter metrics should have "_total" suffix']


def families(text, parser):
    return {family.name: family for family in parser(text)}


def check_samples(found, counter, odd):
    hits = found[counter].samples[0]
    assert hits.value == 41
    assert (hits.labels["path"], hits.labels["code"]) == ('/a"b\\c\nd\ufffd', "200")
    assert (hits.labels["session"], found["depth"].samples[0].value) == ("all", -2.5)
    assert found[odd].samples[0].value == 3
    sizes = {sample.labels.get("le", sample.name): sample.value for sample in found["size_bytes"].samples}
    assert sizes["size_bytes_count"] == sizes["+Inf"] == 1001
    assert sizes["size_bytes_sum"] == 500500
    # octaves are exact: values up to 2^n
    assert {bound: count for bound, count in sizes.items() if not bound.startswith("size")} == {
        "0.0": 1, "1.0": 2, "2.0": 3, "4.0": 5, "8.0": 9, "16.0": 17, "32.0": 33, "64.0": 65,
        "128.0": 129, "256.0": 257, "512.0": 513, "1024.0": 1001, "+Inf": 1001}


def test_prometheus_text_is_read_by_the_python_client(export):
    from prometheus_client.parser import text_string_to_metric_families
    found = families(export("--to", "prometheus").decode(), text_string_to_metric_families)
    check_samples(found, "hits", "odd_name")


def test_openmetrics_is_read_with_exemplars(export):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    text = export("--to", "openmetrics").decode()
    assert text.endswith("\n# EOF\n")
    found = families(text, text_string_to_metric_families)
    check_samples(found, "hits", "odd_name")
    assert found["sonde_task_latency_seconds"].unit == "seconds"
    spans = {one["task_id"]: one for one in tasks(export).values()}
    examples = [sample.exemplar for sample in found["sonde_task_latency_seconds"].samples if sample.exemplar]
    assert {example.labels["span_id"] for example in examples} == set(spans)
    for example in examples:
        task = spans[example.labels["span_id"]]
        begun = task.get("submitted_at", task["started_at"])
        assert example.labels["trace_id"] == task["workflow_id"]
        assert example.value == pytest.approx(task["ended_at"] - begun, abs=5e-6)


def test_profile_pyveda_has_the_families_of_the_guide(export):
    text = export("--to", "prometheus", "--profile", "pyveda").decode()
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert names[:5] == ["pyveda_tasks_executed_total", "pyveda_tasks_failed_total", "pyveda_tasks_pending",
                         "pyveda_latency_ms", "pyveda_throughput_tasks_per_sec"]
    assert "hits_total" in names and not [name for name in names if name.startswith("sonde_")]
    assert "pyveda_tasks_executed_total 3\n" in text and "pyveda_tasks_failed_total 1\n" in text


def test_snapshot_and_history(export):
    now = json.loads(export("--to", "json"))
    assert {key: list(value) if isinstance(value, dict) else 0 for key, value in now.items()} == {
        "timestamp": 0, "tasks": ["executed", "failed", "pending"],
        "latency": ["avg_ms", "p50_ms", "p95_ms", "p99_ms"],
        "system": ["cpu_percent", "memory_mb", "throughput_tasks_per_sec"],
        "gpu": ["utilization_percent", "memory_used_mb"]}
    assert now["tasks"] == {"executed": 3, "failed": 1, "pending": 0}
    lines = [json.loads(line) for line in export("--to", "json", "--history").splitlines()]
    assert len(lines) >= 2 and lines[-1]["tasks"] == now["tasks"]
    assert [line["timestamp"] for line in lines] == sorted(line["timestamp"] for line in lines)


def test_statsd_lines(export):
    plain = export("--to", "statsd").decode().splitlines()
    depth = [line for line in plain if line.startswith("depth.")]
    assert [line.partition(":")[2] for line in depth] == ["0|g", "-2.5|g"]  # a sign means "change by"
    dog = export("--to", "dogstatsd").decode().splitlines()
    line = next(line for line in dog if line.startswith("hits_total:"))
    assert line.startswith("hits_total:41|g|#session:all,host:")
    assert line.split("|#")[1].split(",")[-2:] == ['path:/a"b\\c_d\ufffd', "code:200"]
    guide = export("--to", "dogstatsd", "--profile", "pyveda").decode().splitlines()
    assert [line.partition(":")[0] for line in guide[:3]] == ["pyveda.tasks.executed", "pyveda.throughput",
                                                              "pyveda.latency"]
    assert [line.split("|")[1] for line in guide[:3]] == ["g", "g", "h"]


def test_cloudwatch_requests(export):
    data = json.loads(export("--to", "cloudwatch"))
    assert data["Namespace"] == "Sonde"
    one = {metric["MetricName"]: metric for metric in data["MetricData"]}
    assert one["hits_total"]["Value"] == 41 and one["hits_total"]["Unit"] == "Count"
    assert one["size_bytes"]["StatisticValues"] == {"SampleCount": 1001, "Sum": 500500, "Minimum": 0,
                                                    "Maximum": 1000}
    guide = json.loads(export("--to", "cloudwatch", "--profile", "pyveda"))
    assert guide["Namespace"] == "PyVeda"
    assert [(metric["MetricName"], metric["Unit"]) for metric in guide["MetricData"][:3]] == [
        ("TasksExecuted", "Count"), ("Throughput", "Count/Second"), ("Latency", "Milliseconds")]


# --- OpenTelemetry, by its own schema ---

def metrics_request(data, is_json):
    from google.protobuf import json_format
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    request = ExportMetricsServiceRequest()
    if is_json:
        json_format.Parse(data, request)
    else:
        request.ParseFromString(data)
    return request


def traces_request(data, is_json):
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    request = ExportTraceServiceRequest()
    if not is_json:
        request.ParseFromString(data)
        return request
    tree = json.loads(data)  # OTLP has ids in hex, protobuf's own mapping in base64
    for resource in tree["resourceSpans"]:
        for span in resource["scopeSpans"][0]["spans"]:
            for place in [span, *span["links"]]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in place:
                        place[key] = base64.b64encode(bytes.fromhex(place[key])).decode()
    json_format.ParseDict(tree, request)
    return request


def plain(value):
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(item) for item in value.array_value.values]
    return getattr(value, kind)


def attributes(things):
    pairs = [(pair.key, plain(pair.value)) for pair in things]
    assert len(pairs) == len(dict(pairs)), "keys are unique"
    return dict(pairs)


@pytest.mark.parametrize("form", ["otlp", "otlp-json"])
def test_otlp_metrics(export, form):
    request = metrics_request(export("--to", form, "--signal", "metrics"), form == "otlp-json")
    assert len(request.resource_metrics) == 1
    resource = attributes(request.resource_metrics[0].resource.attributes)
    assert resource["service.name"] == "exporting" and resource["host.name"]
    assert isinstance(resource["process.pid"], int)
    scope = request.resource_metrics[0].scope_metrics[0]
    assert scope.scope.name == "sonde"
    found = {metric.name: metric for metric in scope.metrics}
    hits = found["hits_total"].sum
    assert (hits.aggregation_temporality, hits.is_monotonic) == (2, True)
    point = hits.data_points[0]
    assert point.as_int == 41 and attributes(point.attributes) == {"path": '/a"b\\c\nd\ufffd', "code": "200"}
    assert 0 < point.start_time_unix_nano < point.time_unix_nano
    assert found["depth"].gauge.data_points[0].as_double == -2.5
    assert (found["size_bytes"].unit, found["sonde_task_latency_seconds"].unit) == ("By", "s")
    sizes = found["size_bytes"].exponential_histogram.data_points[0]
    assert (sizes.count, sizes.sum, sizes.scale, sizes.zero_count) == (1001, 500500, 6, 1)
    assert (sizes.min, sizes.max) == (0, 1000)
    assert sum(sizes.positive.bucket_counts) == 1000
    # each value 1 ... 1000 is in the bucket whose bounds hold it
    expected = {}
    for value in range(1, 1001):
        index = math.ceil(math.log2(value) * 64 - 1e-9) - 1
        expected[index] = expected.get(index, 0) + 1
    assert {sizes.positive.offset + i: count for i, count in enumerate(sizes.positive.bucket_counts)
            if count} == expected


@pytest.mark.parametrize("form", ["otlp", "otlp-json"])
def test_otlp_traces(export, form):
    request = traces_request(export("--to", form), form == "otlp-json")
    spans = {span.name: span for resource in request.resource_spans
             for span in resource.scope_spans[0].spans}
    recorded = tasks(export)
    assert set(spans) == set(recorded) == {"data_processing", "transform", "queued"}
    for name, span in spans.items():
        task = recorded[name]
        assert (span.trace_id.hex(), span.span_id.hex()) == (task["workflow_id"], task["task_id"])
        assert span.parent_span_id.hex() == task.get("parent_task_id", "")
        assert span.start_time_unix_nano / 1e9 == pytest.approx(task["started_at"], abs=2e-6)
        assert span.end_time_unix_nano - span.start_time_unix_nano == task["sonde"]["duration_ns"]
    outer = spans["data_processing"]
    assert attributes(outer.attributes) == {
        "batch_id": 123, "huge": float(2**64), "ratio": 0.5, "flag": True, "text": "grüß \ufffd",
        "raw": b"\x00\x01\xfe", "list": "[1,2]", "generated.batch_id": 124, "sonde.device": "gpu0",
        "sonde.tags": ["nightly"]}
    assert (outer.kind, outer.status.code) == (1, 1)
    event = outer.events[0]
    assert event.name == "checkpoint" and attributes(event.attributes) == {"value": '{"step":7}'}
    assert outer.start_time_unix_nano <= event.time_unix_nano <= outer.end_time_unix_nano
    inner = spans["transform"]
    assert (inner.kind, inner.status.code, inner.status.message) == (3, 2, "bad thing")
    link = inner.links[0]
    assert (int.from_bytes(link.trace_id, "big"), int.from_bytes(link.span_id, "big")) == (2**64 + 2, 3)
    assert spans["queued"].kind == 5
    assert attributes(spans["queued"].attributes)["sonde.queue_seconds"] >= 0.005


def test_jaeger_model(export):
    data = json.loads(export("--to", "jaeger"))
    assert len(data["data"]) == 1
    trace = data["data"][0]
    recorded = tasks(export)
    assert trace["traceID"] == recorded["queued"]["workflow_id"]
    spans = {span["operationName"]: span for span in trace["spans"]}
    assert set(spans) == set(recorded)
    for name, span in spans.items():
        task = recorded[name]
        assert set(span) == {"traceID", "spanID", "operationName", "references", "flags", "startTime",
                             "duration", "tags", "logs", "processID", "warnings"}
        assert (span["traceID"], span["spanID"]) == (trace["traceID"], task["task_id"])
        assert span["startTime"] == pytest.approx(task["started_at"] * 1e6, abs=2)
        assert span["duration"] == task["sonde"]["duration_ns"] // 1000
        parents = [one["spanID"] for one in span["references"] if one["refType"] == "CHILD_OF"]
        assert parents == ([task["parent_task_id"]] if "parent_task_id" in task else [])
        process = trace["processes"][span["processID"]]
        assert process["serviceName"] == "exporting"
    tags = {tag["key"]: (tag["type"], tag["value"]) for tag in spans["data_processing"]["tags"]}
    assert (tags["batch_id"], tags["ratio"], tags["flag"]) == (("int64", 123), ("float64", 0.5), ("bool", True))
    assert (tags["raw"], tags["text"]) == (("binary", "AAH+"), ("string", "grüß \ufffd"))
    log = spans["data_processing"]["logs"][0]
    assert log["fields"][0] == {"key": "event", "type": "string", "value": "checkpoint"}
    assert abs(log["timestamp"] - spans["data_processing"]["startTime"]) < 60e6
    failed = {tag["key"]: tag["value"] for tag in spans["transform"]["tags"]}
    assert failed["error"] is True and failed["span.kind"] == "client"
    assert [one["refType"] for one in spans["transform"]["references"]] == ["CHILD_OF", "FOLLOWS_FROM"]


def test_spans_have_the_keys_of_the_guide(export):
    vector = json.loads((ROOT / "tests/vectors/pyveda/pyveda_tracing.json").read_text())["jaeger"]
    spans = json.loads(export("--to", "spans"))
    assert [list(span) for span in spans] == [list(vector[0])] * 3
    one = {span["name"]: span for span in spans}
    assert (one["transform"]["status"], one["transform"]["error"]) == ("error", "bad thing")
    assert one["data_processing"]["attributes"]["list"] == [1, 2]
    assert one["transform"]["parent_span_id"] == one["data_processing"]["span_id"]


def test_csv_is_the_log(export, recorded):
    rows = list(csv.DictReader(io.StringIO(export("--to", "csv").decode())))
    assert rows == list(csv.DictReader(open(recorded.with_suffix(".csv"), encoding="utf-8", newline="")))
    assert len(rows) == 3


# --- a real Prometheus ---

def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(port, path, **query):
    url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.load(answer)["data"]


def until(what, seconds=30):
    """The first answer of what() that is not empty."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            answer = what()
            if answer:
                return answer
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError("no answer in time")


@pytest.fixture
def prometheus(tmp_path):
    started = []

    def start(*targets, features):
        port = free_port()
        config = tmp_path / "prometheus.yml"
        listed = json.dumps([{"targets": list(targets)}])
        config.write_text(f"global: {{scrape_interval: 1s}}\n"
                          f"scrape_configs: [{{job_name: sonde, static_configs: {listed}}}]\n")
        started.append(subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'tsdb'}",
             f"--web.listen-address=127.0.0.1:{port}", f"--enable-feature={features}", "--log.level=error"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return port
    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def served(environment, folder, shm):
    environment["SONDE_SHM_DIR"] = shm
    port = free_port()
    process = subprocess.Popen([BUILD / "bin" / "example_serve_metrics", str(port), "60"], cwd=folder,
                               env=environment)
    yield port
    process.kill()
    process.wait()


def test_prometheus_scrapes_native_histograms(prometheus, served):
    port = prometheus(f"127.0.0.1:{served}", features="native-histograms")
    until(lambda: ask(port, "query", query="steps_total")["result"])
    target = ask(port, "targets")["activeTargets"][0]
    assert (target["health"], target["lastError"]) == ("up", "")
    step = until(lambda: ask(port, "query", query="histogram_quantile(0.5, sonde_task_latency_seconds)")["result"])
    assert 0.002 <= float(step[0]["value"][1]) < 0.2
    assert ask(port, "query", query="sonde_host_memory_bytes{kind='total'}")["result"]
    assert len(ask(port, "query", query="sonde_host_cpu_seconds_total{mode='idle'}")["result"]) >= 1


def serve_bytes(body, content_type):
    import http.server
    import threading

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def test_prometheus_has_what_was_exported(prometheus, export):
    """Values, quantiles within a percent and exemplars come back as they were recorded."""
    protobuf = serve_bytes(export("--to", "prometheus-protobuf"),
                           "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
                           "encoding=delimited")
    text = serve_bytes(export("--to", "openmetrics"),
                       "application/openmetrics-text; version=1.0.0; charset=utf-8")
    port = prometheus(f"127.0.0.1:{protobuf.server_port}", f"127.0.0.1:{text.server_port}",
                      features="native-histograms,exemplar-storage")
    try:
        until(lambda: len(ask(port, "query", query="hits_total")["result"]) == 2)
        assert [target["lastError"] for target in ask(port, "targets")["activeTargets"]] == ["", ""]
        hits = ask(port, "query", query="hits_total")["result"]
        assert [(one["value"][1], one["metric"]["path"]) for one in hits] == [("41", '/a"b\\c\nd\ufffd')] * 2
        native = f'{{instance="127.0.0.1:{protobuf.server_port}"}}'
        for quantile in (0.5, 0.95, 0.99):
            found = ask(port, "query", query=f"histogram_quantile({quantile}, size_bytes{native})")["result"]
            assert float(found[0]["value"][1]) == pytest.approx(1000 * quantile, rel=0.01)
        found = until(lambda: ask(port, "query_exemplars", query="sonde_task_latency_seconds_bucket",
                                  start=str(time.time() - 3600), end=str(time.time() + 60)))
        seen = {one["labels"]["span_id"] for series in found for one in series["exemplars"]}
        assert seen <= {task["task_id"] for task in tasks(export).values()} and seen
    finally:
        protobuf.shutdown()
        text.shutdown()


def test_prometheus_and_analyze_agree_on_quantiles(prometheus, sonde, environment, folder, shm):
    environment["SONDE_SHM_DIR"] = shm
    log(folder, environment, [packet(i, "step", ms=1 + i * 0.01) for i in range(5000)], "even")
    journal = "telemetry/even.sonde"
    exact = json.loads(sonde("analyze", journal, "--json").out)["activities"]["step"]
    body = subprocess.run([BUILD / "bin" / "sonde", "export", journal, "--to", "prometheus-protobuf"], cwd=folder,
                          env=environment, capture_output=True, timeout=60, check=True).stdout
    server = serve_bytes(body, "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
                               "encoding=delimited")
    port = prometheus(f"127.0.0.1:{server.server_port}", features="native-histograms")
    try:
        for quantile, key in ((0.5, "p50_ms"), (0.95, "p95_ms"), (0.99, "p99_ms")):
            query = f"1000 * histogram_quantile({quantile}, sonde_task_duration_seconds)"
            found = until(lambda query=query: ask(port, "query", query=query)["result"])
            assert float(found[0]["value"][1]) == pytest.approx(exact[key], rel=0.01)
    finally:
        server.shutdown()


# --- what can go wrong ---

def test_an_unknown_format_is_told_with_all_of_them(sonde):
    done = sonde("export", "any.sonde", "--to", "prometeus")
    assert (done.code, done.out) == (2, "")
    assert done.err == ('sonde export: unknown format "prometeus"; did you mean "prometheus"? There are: '
                        + ", ".join(FORMATS) + "\n")


@pytest.mark.parametrize("args, words", [
    (["any.sonde"], "which format? say --to"),
    (["--to", "csv"], "which session?"),
    (["any.sonde", "--to", "csv", "--signal", "metrics"], "csv has no metrics"),
    (["any.sonde", "--to", "json", "--signal", "traces"], "json has no traces"),
    (["any.sonde", "--to", "csv", "--profile", "vedart"], 'sonde or pyveda, not "vedart"'),
    (["any.sonde", "--to", "csv", "--history"], "--history goes with --to json"),
])
def test_wrong_arguments(sonde, args, words):
    done = sonde("export", *args)
    assert done.code == 2 and words in done.err


def test_binary_is_not_written_to_a_terminal(sonde_in_terminal, recorded):
    done = sonde_in_terminal("export", recorded, "--to", "otlp")
    assert (done.code, done.out) == (2, "") and "binary" in done.err


def test_a_missing_session_is_named(sonde):
    done = sonde("export", "no.sonde", "--to", "csv")
    assert done.code == 1 and "no.sonde" in done.err
