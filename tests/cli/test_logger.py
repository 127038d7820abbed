# SPDX-License-Identifier: Apache-2.0
"""The logger against what the split-inference logger wrote for the same packets. Where the original
is wrong, the test shows the better answer beside it."""
import math
import re

import pytest

from sessions import HEADER, log, only, packet, rows, summary, vectors

# the original names these after the wrong device
BETTER_WORKER = {("cpu_router", "igpu"): "igpu_router"}


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=2e-6)  # durations are kept to the nanosecond


@pytest.fixture
def golden(folder, environment):
    expected = vectors()
    stats = log(folder, environment, expected["inputs"], "golden", tokens=5, prompt=3)
    return expected, stats, folder / "telemetry"


def test_rows(golden):
    expected, _, telemetry = golden
    raw = (telemetry / "golden.csv").read_bytes()
    assert raw.startswith(HEADER.encode() + b"\n") and b"\r" not in raw
    path = telemetry / "original.csv"
    path.write_text(expected["csv"], newline="")
    for mine, theirs in zip(rows(telemetry / "golden.csv"), rows(path), strict=True):
        for key in ("device", "packet_id", "layer_idx", "operation", "success", "error_message"):
            assert mine[key] == theirs[key]
        better = BETTER_WORKER.get((theirs["worker_instance"], theirs["device"]))
        assert mine["worker_instance"] == (better or theirs["worker_instance"])
        assert abs(float(mine["duration_ms"]) - float(theirs["duration_ms"])) <= 0.000501
        assert abs(float(mine["memory_used_mb"]) - float(theirs["memory_used_mb"])) <= 0.0101
        assert re.fullmatch(r"\d+\.\d{6}", mine["timestamp"])
        assert re.fullmatch(r"\d+\.\d{6}", mine["duration_ms"])
        assert re.fullmatch(r"\d+\.\d{2}", mine["memory_used_mb"])


def test_statistics(golden):
    expected, stats, _ = golden
    theirs = expected["summary_stats"]
    assert all(near(a, b) for a, b in zip(stats, theirs.values(), strict=True))


def test_summary(golden):
    expected, _, telemetry = golden
    mine, theirs = summary(telemetry / "golden.json"), expected["summary"]
    assert list(mine)[:len(theirs)] == list(theirs)
    for key in ("session_name", "prompt_tokens", "tokens_generated", "total_tokens", "failed_packets",
                "total_packets_processed", "cpu_packets", "igpu_packets",
                "expert_selection_distribution"):
        assert mine[key] == theirs[key]
    for key in ("success_rate", "total_cpu_time_ms", "total_igpu_time_ms", "avg_cpu_time_ms",
                "avg_igpu_time_ms", "cpu_utilization", "igpu_utilization"):
        assert near(mine[key], theirs[key]), key
    assert list(mine["operation_breakdown"]) == list(theirs["operation_breakdown"])
    assert mine["state"] == "finished" and mine["loss"] == {"lost": 0, "missing": 0, "open": 0}


def test_breakdown(golden):
    expected, _, telemetry = golden
    mine = summary(telemetry / "golden.json")["operation_breakdown"]
    for name, theirs in expected["summary"]["operation_breakdown"].items():
        assert list(mine[name]) == list(theirs)
        for key, value in theirs.items():
            if key == "min_time_ms" and math.isinf(value):
                assert mine[name][key] is None  # the original wrote Infinity, which is no JSON
            elif key == "avg_time_ms":  # the original divided by failures, too
                good = theirs["count"] - theirs["failed_count"]
                assert near(mine[name][key], theirs["total_time_ms"] / good if good else 0)
            else:
                assert near(mine[name][key], value), (name, key)


def test_what_the_original_lost(golden):
    """Devices other than cpu and igpu, and what was asked for instead of what was done."""
    mine = summary(golden[2] / "golden.json")
    assert set(mine["devices"]) == {"cpu", "igpu", "unknown", "npu"}
    assert mine["devices"]["npu"]["count"] == 1
    assert mine["fallbacks"] == 2  # packets 5 and 6; "auto" is no request


def test_worker_names(folder, environment):
    cases = vectors()["worker_instance"]
    packets = [packet(i, case["operation"], case["device"], case["layer"])
               for i, case in enumerate(cases)]
    log(folder, environment, packets)
    different = set()
    for case, row in zip(cases, rows(only(folder, ".csv")), strict=True):
        if row["worker_instance"] != case["worker_instance"]:
            device = case["device"]
            assert device != "cpu" and case["worker_instance"].startswith("cpu_")
            assert row["worker_instance"] == device + case["worker_instance"][3:]
            different.add((case["worker_instance"].split("_layer")[0], device))
    assert different == {("cpu_router", "igpu"), ("cpu_router", "unknown"),
                         ("cpu_expert_ffn", "unknown")}


def test_empty_session(folder, environment):
    log(folder, environment, [], "empty")
    assert (folder / "telemetry" / "empty.csv").read_text() == HEADER + "\n"
    mine, theirs = summary(folder / "telemetry" / "empty.json"), vectors()["empty_json"]
    assert mine["total_packets_processed"] == 0 and mine["success_rate"] == 0
    assert re.findall(r'^  "(\w+)"', theirs, re.M) == list(mine)[:24]


def test_utilisation_keeps_its_meaning(folder, environment):
    """825 of 1650 packets are 0.50, whatever time they took."""
    packets = [packet(i, "a", "cpu", ms=9) for i in range(825)]
    packets += [packet(i, "b", "igpu", ms=0.1) for i in range(800)]
    packets += [packet(i, "b", "igpu", success=False, error_message="no") for i in range(25)]
    log(folder, environment, packets)
    mine = summary(only(folder, ".json"))
    assert mine["total_packets_processed"] == 1650
    assert (mine["cpu_utilization"], round(mine["igpu_utilization"], 2)) == (0.5, 0.48)
    assert round(mine["success_rate"], 3) == 0.985


def test_experts_by_number(folder, environment):
    log(folder, environment, [packet(1, "expert_selection", experts=[3, 7]),
                              packet(2, "expert_selection", experts=[3, 1]),
                              packet(3, "expert_ffn")])
    assert summary(only(folder, ".json"))["expert_selection_distribution"] == {
        "expert_3": 2, "expert_7": 1, "expert_1": 1}


def test_a_name_clash_truncates_nothing(folder, environment):
    log(folder, environment, [packet(1, "first")], "same")
    before = (folder / "telemetry" / "same.csv").read_bytes()
    log(folder, environment, [packet(2, "second")], "same")
    (folder / "telemetry" / "other.csv").write_text("mine\n")
    log(folder, environment, [packet(3, "third")], "other")
    assert (folder / "telemetry" / "same.csv").read_bytes() == before
    assert rows(folder / "telemetry" / "same_2.csv")[0]["operation"] == "second"
    assert (folder / "telemetry" / "other.csv").read_text() == "mine\n"
    assert rows(folder / "telemetry" / "other_2.csv")[0]["operation"] == "third"
