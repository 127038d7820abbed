# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the server; its query API returns what the program counted."""
import json
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest


@pytest.fixture
def prometheus(tmp_path):
    """prometheus(server, *features): query(text), which gives the values by their labels."""
    started = []

    def start(server, *features):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        config = tmp_path / "prometheus.yml"
        config.write_text("global:\n  scrape_interval: 500ms\n  scrape_timeout: 500ms\nscrape_configs:\n"
                          f"  - job_name: sonde\n    static_configs:\n      - targets: ['127.0.0.1:{server.port}']\n")
        log = open(tmp_path / "prometheus.log", "w")
        process = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={tmp_path}/tsdb",
                                    f"--web.listen-address=127.0.0.1:{port}",
                                    *([f"--enable-feature={','.join(features)}"] if features else [])],
                                   stdout=log, stderr=log)
        started.append((process, log))

        def ask(path, **parameters):
            url = f"http://127.0.0.1:{port}/api/v1/{path}?" + urllib.parse.urlencode(parameters)
            try:
                with urllib.request.urlopen(url, timeout=5) as answer:
                    return json.load(answer)["data"]
            except OSError:
                return None
        return ask
    yield start
    for process, log in started:
        process.terminate()
        process.wait(timeout=30)
        log.close()


def query(ask, text):
    found = ask("query", query=text)
    return [(one["metric"], float(one["value"][1])) for one in found["result"]] if found else []


def test_prometheus_scrapes_it(serve, watched, prometheus):
    program = watched("scraped", series=20, tasks=50)
    server = serve()
    ask = prometheus(server)
    assert server.settled(lambda: query(ask, 'test_events_0_total{shard="7"}'), 30)
    assert query(ask, 'up{job="sonde"}')[0][1] == 1
    labels, value = query(ask, 'test_events_0_total{shard="7"}')[0]
    assert value == 8 and labels["session"] == "scraped" and labels["pid"] == str(program.pid)
    snapshot = server.json("/api/v1/snapshot")
    counted = query(ask, "sum(sonde_task_latency_seconds_count)")[0][1]
    failed = query(ask, "sum(sonde_tasks_failed_total)")[0][1]
    assert (counted, failed) == (snapshot["tasks"]["executed"], snapshot["tasks"]["failed"]) == (50, 1)
    target = ask("targets")["activeTargets"][0]
    assert (target["health"], target["lastError"]) == ("up", "")
    total = query(ask, 'sonde_host_memory_bytes{kind="total"}')[0][1]
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        assert total == int(meminfo.readline().split()[1]) * 1024


def test_promtool_finds_nothing(serve, watched):
    watched("checked", series=5)
    text = serve().metrics()[1]
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_native_histogram_and_quantile(serve, watched, prometheus):
    """The exponential histogram arrives as it is: a quantile agrees with the observations."""
    watched("native", tasks=50)
    server = serve()
    ask = prometheus(server, "native-histograms")
    quantile = "histogram_quantile(0.95, test_size_bytes)"
    assert server.settled(lambda: query(ask, quantile), 30)
    assert query(ask, quantile)[0][1] == pytest.approx(950, rel=0.01)
    assert query(ask, "histogram_count(test_size_bytes)")[0][1] == 1000
    assert query(ask, "histogram_sum(test_size_bytes)")[0][1] == 500500
    assert query(ask, "sum(histogram_count(sonde_task_latency_seconds))")[0][1] == 50


def test_exemplars(serve, watched, prometheus):
    """A bucket leads to a task: the exemplar's trace id is the workflow's."""
    watched("traced", tasks=50)
    server = serve()
    ask = prometheus(server, "exemplar-storage")
    found = server.settled(lambda: ask("query_exemplars", query="sonde_task_latency_seconds_bucket",
                                       start="2020-01-01T00:00:00Z", end="2100-01-01T00:00:00Z"), 30)
    tasks = server.json("/api/v1/tasks?session=traced")["tasks"]
    traces = {one["labels"]["trace_id"] for series in found for one in series["exemplars"]}
    assert traces == {tasks[0]["workflow_id"]}
    spans = {one["labels"].get("span_id") for series in found for one in series["exemplars"]}
    assert spans <= {task["task_id"] for task in tasks}
