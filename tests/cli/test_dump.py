# SPDX-License-Identifier: Apache-2.0
"""sonde dump and sonde recover: Flowcept's shape, sessions of dead processes, bad input."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from conftest import BUILD

NESTED = BUILD / "bin" / "example_nested_tasks"
POOL = BUILD / "bin" / "example_thread_pool"
WORKER = BUILD / "bin" / "record_worker"

# keys and order of tasks of Flowcept's decorator, telemetry aside (its tasks_full_telemetry.jsonl)
FLOWCEPT_TASK = ["activity_id", "workflow_id", "campaign_id", "used", "started_at", "hostname",
                 "task_id", "status", "ended_at", "generated", "type"]
OURS = {"parent_task_id", "sonde", "tags", "stderr", "submitted_at", "group_id", "subtype",
        "custom_metadata"}


def record(program, environment, folder):
    subprocess.run([program, "out"], cwd=folder, env=environment, check=True, capture_output=True)


def lines(outcome):
    assert outcome.code == 0, outcome.err
    return [json.loads(line) for line in outcome.out.splitlines()]


@pytest.fixture
def nested(sonde, environment, folder):
    record(NESTED, environment, folder)
    return lines(sonde("dump", "out/nested.sonde"))


def test_tasks_have_flowcepts_keys_in_its_order(nested):
    steps = [task for task in nested if task.get("activity_id") == "train_step"]
    assert len(steps) == 4
    for step in steps:
        assert [key for key in step if key not in OURS] == FLOWCEPT_TASK
        assert set(step["used"]) == {"step"} and set(step["generated"]) == {"loss"}
        assert step["campaign_id"] == "examples" and step["status"] == "FINISHED"
        assert isinstance(step["started_at"], float) and step["ended_at"] >= step["started_at"]
        assert re.fullmatch("[0-9a-f]{16}", step["task_id"])
        assert re.fullmatch("[0-9a-f]{32}", step["workflow_id"])


def test_nested_tasks_have_their_parents(nested):
    tasks = {task["task_id"]: task for task in nested if task["type"] == "task"}
    assert len(tasks) == 13
    for task in tasks.values():
        parent = tasks.get(task.get("parent_task_id"), {}).get("activity_id")
        expected = {"epoch": None, "train_step": "epoch", "forward": "train_step", "backward": "train_step"}
        assert parent == expected[task["activity_id"]]
        if parent:
            above = tasks[task["parent_task_id"]]
            assert above["started_at"] <= task["started_at"] and task["ended_at"] <= above["ended_at"]


def test_failures_tags_and_the_workflow(nested):
    failed = [task for task in nested if task["status"] == "ERROR"]
    assert [task["stderr"] for task in failed] == ["gradient is not finite"]
    assert [task["tags"] for task in nested if "tags" in task] == [["demo"]]
    first, last = nested[0], nested[-1]
    assert first["type"] == last["type"] == "workflow"
    assert first["status"] == "RUNNING" and "ended_at" not in first
    assert last["status"] == "FINISHED" and last["ended_at"] > last["started_at"]
    assert first["name"] == "nested" and first["workflow_id"] == nested[1]["workflow_id"]


def test_submitted_work(sonde, environment, folder):
    record(POOL, environment, folder)
    records = lines(sonde("dump", "out/pool.sonde"))
    submitted = {r["task_id"]: r for r in records if r["status"] == "SUBMITTED"}
    jobs = [r for r in records if r.get("activity_id") == "job" and r["status"] == "FINISHED"]
    assert len(submitted) == len(jobs) == 30
    batch = next(r for r in records if r.get("activity_id") == "batch")
    for job in jobs:
        at = submitted[job["task_id"]]["submitted_at"]
        assert abs(job["submitted_at"] - at) < 5e-6  # two readings of the clock's drift
        assert job["submitted_at"] <= job["started_at"]
        assert job["parent_task_id"] == batch["task_id"]
        assert job["sonde"]["worker"] in "abc"


@pytest.fixture
def killed(environment, folder):
    """A session whose process was killed; the folder of segments is the test's own."""
    shm = f"/dev/shm/sp{os.getpid()}"
    os.makedirs(shm, exist_ok=True)
    env = {**environment, "SONDE_SHM_DIR": shm}
    (folder / "board").write_bytes(bytes(4096))
    process = subprocess.Popen([WORKER, "out", "dead", "board", "0"], cwd=folder, env=env)
    for _ in range(200):
        time.sleep(0.02)
        if (folder / "out" / "dead.sonde").exists() and any(folder.joinpath("board").read_bytes()):
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    yield {"SONDE_SHM_DIR": shm}
    for name in os.listdir(shm):
        os.unlink(f"{shm}/{name}")
    os.rmdir(shm)


def test_recover_finishes_what_a_dead_process_left(sonde, killed):
    done = sonde("recover", "--json", "out", env=killed)
    what = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0 and len(what) == 1 and what[0]["status"] == "ok"
    assert what[0]["open"] >= 2 and what[0]["lost"] == 0
    assert os.listdir(killed["SONDE_SHM_DIR"]) == []
    assert sonde("recover", env=killed).out == "nothing to recover\n"


def test_dump_recovers_by_itself(sonde, killed):
    records = lines(sonde("dump", "out/dead.sonde", env=killed, timeout=120))
    assert os.listdir(killed["SONDE_SHM_DIR"]) == []
    outer = [r for r in records if r.get("activity_id") == "outer"]
    assert [r["status"] for r in outer] == ["RUNNING"] * 2
    assert all(r["sonde"]["open"] for r in outer)
    assert records[-1]["sonde"]["state"] == "recovered"


def test_follow_ends_with_the_session(sonde, environment, folder):
    record(NESTED, environment, folder)
    assert len(lines(sonde("dump", "--follow", "out/nested.sonde"))) == 15


@pytest.mark.parametrize("content, message", [
    (None, "No such file"), (b"a,b\n1,2\n", "not a journal of Sonde"), (os.urandom(5000), "no valid frame"),
])
def test_what_is_not_a_session(sonde, folder, content, message):
    if content is not None:
        (folder / "x.sonde").write_bytes(content)
    done = sonde("dump", "x.sonde")
    assert done.code == 1 and done.out == "" and message in done.err and done.err.count("\n") == 1


def test_an_empty_and_a_truncated_one(sonde, environment, folder):
    (folder / "empty.sonde").write_bytes(b"")
    assert sonde("dump", "empty.sonde") == (0, "", "")
    record(NESTED, environment, folder)
    journal = (folder / "out" / "nested.sonde").read_bytes()
    (folder / "cut.sonde").write_bytes(journal[:-50])
    done = sonde("dump", "cut.sonde")
    assert done.code == 0 and len(done.out.splitlines()) == 14 and "not readable" in done.err


def test_usage(sonde):
    assert sonde("dump").code == 2
    assert sonde("dump", "a", "b").code == 2
    assert sonde("recover", "/no/such/folder").code == 1
