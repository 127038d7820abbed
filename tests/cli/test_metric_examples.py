# SPDX-License-Identifier: Apache-2.0
"""PyVeda's guide as C examples: its blocks print what they should, with the values it never gets right."""
import json
import re

from conftest import BUILD


def example(sonde, name):
    done = sonde(program=BUILD / "bin" / f"example_{name}")
    assert (done.code, done.err) == (0, "")
    return done.out


def test_custom_metrics(sonde):
    assert example(sonde, "custom_metrics") == (
        "requests: 6\n"
        "connections: 42\n"
        "p95: 45.2 ms, mean: 28.85 ms, count: 2\n"
        "http_requests_total 6\n"
        "http_responses_total method=GET code=200 2\n"
        "http_responses_total method=GET code=404 1\n")


def test_snapshot_and_collection(sonde):
    lines = example(sonde, "snapshot_history").splitlines()
    assert lines[:3] == ["Tasks executed: 1000", "Tasks failed: 10", "Tasks pending: 3"]
    p50, p95, p99 = map(float, re.fullmatch(r"p50 (.*)ms, p95 (.*)ms, p99 (.*)ms", lines[4]).groups())
    assert 0.1 <= p50 <= p95 <= p99
    assert float(re.fullmatch(r"Average latency: (.*)ms", lines[3]).group(1)) >= 0.1
    assert float(re.fullmatch(r"Throughput: (.*) tasks/sec", lines[5]).group(1)) > 1
    times = [float(re.fullmatch(r"Time: (.*), Throughput: .*", line).group(1)) for line in lines[6:-1]]
    assert 1 <= len(times) <= 10 and times == sorted(times)
    last = json.loads(lines[-1])
    assert list(last) == ["timestamp", "tasks", "latency", "system", "gpu"]
    assert last["tasks"] == {"executed": 1003, "failed": 10, "pending": 0}
    assert list(last["latency"]) == ["avg_ms", "p50_ms", "p95_ms", "p99_ms"]
    assert list(last["system"]) == ["cpu_percent", "memory_mb", "throughput_tasks_per_sec"]


def test_telemetry_of_a_task(sonde):
    out = example(sonde, "task_telemetry")
    peak = float(re.match(r"work: (\d+) MB at most, used the CPU, telemetry at start: yes, at end: yes\n",
                          out).group(1))
    assert peak >= 200
    path = re.search(r"more: sonde dump (.*)\n", out).group(1)
    records = [json.loads(line) for line in sonde("dump", path).out.splitlines()]
    task = next(record for record in records if record.get("activity_id") == "work")
    for edge in ("telemetry_at_start", "telemetry_at_end"):
        assert {"cpu", "process", "memory", "sonde"} <= set(task[edge])
    summary = task["telemetry_summary"]
    assert summary["duration_sec"] > 0
    assert summary["process"]["user_time_diff"] + summary["process"]["system_time_diff"] > 0
    assert {"percent_all_diff", "user_time_diff", "system_time_diff", "idle_time_diff"} >= set(summary["cpu"])
    assert task["sonde"]["usage"]["rss_bytes_max"] >= 200e6


def test_reads_metrics_of_another_process(sonde):
    out = example(sonde, "read_metrics")
    assert "jobs_total 7\n" in out
    assert "wait_seconds count 1000, p99 0.99\n" in out
