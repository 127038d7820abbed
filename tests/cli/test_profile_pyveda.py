# SPDX-License-Identifier: Apache-2.0
"""Profile pyveda against what PyVeda itself wrote: its text plus the documented additions."""
import json
import re
import subprocess
from decimal import Decimal

import pytest

from conftest import BUILD, ROOT

VECTORS = json.loads((ROOT / "tests/vectors/pyveda/pyveda_snapshots.json").read_text(), parse_float=Decimal)
KEYS = ["tasks_executed", "tasks_failed", "tasks_pending", "avg_latency_ms", "p50_latency_ms",
        "p95_latency_ms", "p99_latency_ms", "throughput_tasks_per_sec", "cpu_utilization_percent",
        "memory_used_mb", "gpu_utilization_percent", "gpu_memory_used_mb"]
ADDED = re.compile(r"^pyveda_latency_ms_(sum|count) .*\n|(\n# HELP pyveda_gpu_\w+ .*\n# TYPE .*\n.*\n)", re.M)


def encode(vector, form):
    values = vector["snapshot"]
    numbers = [str(int(values["timestamp"] * 10**9))]
    numbers += ["nan" if values[key] is None else str(values[key]) for key in KEYS]
    done = subprocess.run([BUILD / "bin" / "encode_snapshot", form, *numbers], capture_output=True,
                          text=True, timeout=30, check=True)
    return done.stdout


def as_double(text):
    """PyVeda writes 100 where it was given an int; here such values are always doubles."""
    return re.sub(r"^(pyveda_(?!tasks)\S+) (\d+)$", r"\1 \2.0", text, flags=re.M)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_text_is_the_original_and_the_additions(vector):
    text = encode(vector, "prometheus")
    has_gpu = vector["snapshot"]["gpu_utilization_percent"] is not None
    assert len(ADDED.findall(text)) == (4 if has_gpu else 2)
    assert ADDED.sub("", text) == as_double(vector["PrometheusExporter_ns_pyveda"]) + "\n"
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True,
                          timeout=60, check=False)
    assert "error" not in done.stderr  # advice on units is PyVeda's due


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_openmetrics_of_the_profile_is_read(vector):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    found = {family.name: family for family in text_string_to_metric_families(encode(vector, "openmetrics"))}
    assert found["pyveda_tasks_executed"].samples[0].value == vector["snapshot"]["tasks_executed"]
    assert found["pyveda_latency_ms"].type == "summary"


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_json_is_the_original(vector):
    assert json.loads(encode(vector, "json")) == json.loads(vector["JSONExporter_compact"])
    assert list(json.loads(encode(vector, "json"))) == list(json.loads(vector["JSONExporter_compact"]))


def test_datadog_and_cloudwatch_have_the_names_of_the_guide():
    assert encode(VECTORS[0], "dogstatsd") == ("pyveda.tasks.executed:1523|g\npyveda.throughput:127.3|g\n"
                                               "pyveda.latency:15.4|h\n")
    assert encode(VECTORS[0], "statsd").splitlines()[2] == "pyveda.latency:15.4|ms"
    assert json.loads(encode(VECTORS[0], "cloudwatch")) == {
        "Namespace": "PyVeda", "MetricData": [
            {"MetricName": "TasksExecuted", "Value": 1523, "Unit": "Count"},
            {"MetricName": "Throughput", "Value": 127.3, "Unit": "Count/Second"},
            {"MetricName": "Latency", "Value": 15.4, "Unit": "Milliseconds"}]}
