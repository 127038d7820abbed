# SPDX-License-Identifier: Apache-2.0
"""Session files when things go wrong: the process dies, the disk is full, nothing is finished yet."""
import json
import resource
import signal
import subprocess
import time

import pytest

from conftest import BUILD
from sessions import HEADER, log, packet, rows, summary

PACKETS = [packet(i, "expert_ffn", layer=i % 8) for i in range(10000)]


@pytest.fixture(autouse=True)
def private_segments(tmp_path, environment):
    """Processes are killed here: what they leave in shared memory is this test's own."""
    environment["SONDE_SHM_DIR"] = str(tmp_path / "shm")
    (tmp_path / "shm").mkdir(mode=0o700)


def start(folder, environment, packets):
    """log_packets that has got its packets and waits for more; they are in its journal."""
    process = subprocess.Popen([BUILD / "bin" / "log_packets", "telemetry", "live", "0", "0"], cwd=folder,
                               env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    send(process, packets)
    return process


def send(process, packets):
    process.stdin.write("".join(json.dumps(one) + "\n" for one in packets))
    process.stdin.flush()


def wait_for_rows(folder, count):
    deadline = time.monotonic() + 20
    path = folder / "telemetry" / "live.csv"
    while not path.exists() or path.read_bytes().count(b"\n") <= count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize("reader", ["analyze", "recover"])
def test_the_log_of_a_killed_program_is_completed(folder, environment, sonde, reader):
    """Whatever rows the process had not written when it died, the journal has the tasks."""
    process = start(folder, environment, PACKETS[:500])
    wait_for_rows(folder, 500)
    kill(process)
    path = folder / "telemetry" / "live.csv"
    text = path.read_bytes()
    path.write_bytes(text[:len(text) // 2])  # as if it had died long before: in the middle of a row
    done = sonde(reader) if reader == "analyze" else sonde(reader, "telemetry")
    assert done.code == 0, done.err
    found = rows(path)
    assert [int(row["packet_id"]) for row in found] == list(range(500))
    assert path.read_text().splitlines()[0] == HEADER
    total = summary(folder / "telemetry" / "live.json")
    assert (total["state"], total["total_packets_processed"]) == ("died", 500)
    assert sorted(one.name for one in (folder / "telemetry").iterdir()) == ["live.csv", "live.json",
                                                                          "live.sonde"]


def test_no_write_leaves_everything(folder, environment, sonde):
    process = start(folder, environment, PACKETS[:100])
    wait_for_rows(folder, 100)
    kill(process)
    path = folder / "telemetry" / "live.csv"
    path.write_bytes(path.read_bytes()[:-10])
    before = path.read_bytes()
    assert sonde("analyze", "--no-write").code == 0
    assert path.read_bytes() == before


def test_a_longer_log_is_not_replaced(folder, environment, sonde):
    """The journal may be the damaged one."""
    process = start(folder, environment, PACKETS[:100])
    wait_for_rows(folder, 100)
    kill(process)
    path, journal = folder / "telemetry" / "live.csv", folder / "telemetry" / "live.sonde"
    assert sonde("recover", "telemetry", "--json").code == 0
    text = journal.read_bytes()
    total = summary(folder / "telemetry" / "live.json")
    (folder / "telemetry" / "live.json").write_text(json.dumps({**total, "state": "running"}))
    before = path.read_bytes()
    journal.write_bytes(text[:len(text) // 2])
    sonde("analyze")
    assert path.read_bytes() == before


def test_a_growing_session_is_analyzed_as_it_is(folder, environment, sonde):
    process = start(folder, environment, PACKETS[:300])
    try:
        wait_for_rows(folder, 300)
        for count in (300, 700):
            done = sonde("analyze", "--json")
            assert done.code == 0, done.err
            found = json.loads(done.out)
            assert (found["total_packets_processed"], found["state"]) == (count, "running")
            if count == 300:
                send(process, PACKETS[300:700])
                wait_for_rows(folder, 700)
        assert summary(folder / "telemetry" / "live.json")["state"] == "running"  # not ours to finish
        csv = sonde("analyze", "telemetry/live.csv", "--json")
        assert csv.code == 0 and json.loads(csv.out)["total_packets_processed"] == 700
    finally:
        kill(process)


def test_full_disk_while_it_runs(folder, environment, sonde):
    """The log is larger than the journal, which has a long name once in a frame: a limit on files
    between both fills the log alone."""
    packets = [{**one, "operation": one["operation"] + 150 * "x"} for one in PACKETS]
    log(folder, environment, packets, "whole")
    sizes = [(folder / "telemetry" / f"whole.{suffix}").stat().st_size for suffix in ("sonde", "csv")]
    assert sizes[0] < sizes[1]
    process = start(folder, environment, [])
    wait_for_rows(folder, 0)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (sum(sizes) // 2, sum(sizes) // 2))
    send(process, packets)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and out.startswith("10000 ")
    path = folder / "telemetry" / "live.csv"
    written = rows(path)
    assert path.read_bytes().endswith(b"\n") and 0 < len(written) < 10000
    total = summary(folder / "telemetry" / "live.json")
    assert (total["state"], total["total_packets_processed"]) == ("finished", 10000)
    assert total["csv_rows_missing"] == 10000 - len(written) and total["csv_rows_reason"]
    assert sonde("analyze", "telemetry/live.sonde").code == 0  # the disk has room again
    assert len(rows(path)) == 10000
    assert "csv_rows_missing" not in summary(folder / "telemetry" / "live.json")
