# SPDX-License-Identifier: Apache-2.0
"""sonde analyze: the original's figures for the original's files, what it lacked, and bad input."""
import json
import re

import pytest

from sessions import HEADER, VECTORS, log, packet, summary, vectors

SESSION_DATA = pytest.mark.skipif(
    not any((VECTORS / "sessions").glob("*.csv")) if (VECTORS / "sessions").exists() else True,
    reason="the original's own sessions are somebody else's data and not part of this tree")


def plain(text):
    """Without signs beyond ASCII where they begin a line, and without blank lines."""
    lines = [re.sub(r"^(\s*)[^\x00-\x7fé]+\s*", r"\1", line) for line in text.splitlines()]
    return [line.rstrip() for line in lines if line.strip()]


def section(lines, title):
    start = next(i for i, line in enumerate(lines) if line.startswith(title))
    body = []
    for line in lines[start + 1:]:
        if not line.startswith((" ", "line2")):
            break
        body.append(line)
    return body


@pytest.fixture
def golden(folder):
    expected = vectors()
    (folder / "telemetry").mkdir()
    (folder / "telemetry" / "golden.csv").write_text(expected["csv"], newline="")
    (folder / "telemetry" / "golden.json").write_text(
        expected["summary_json_text"].replace("Infinity", "0"))
    return expected


@pytest.mark.parametrize("title", ["Per-Worker Breakdown", "Per-Layer Breakdown",
                                   "Top 5 Slowest Operations", "Failed Operations",
                                   "Session Summary"])
def test_sections_of_the_original(golden, sonde, title):
    done = sonde("analyze")
    assert (done.code, done.err) == (0, "")
    theirs = section(plain(golden["analyze_stdout"]), title)
    assert section(plain(done.out), title) == theirs


def test_overall_is_the_originals_and_says_more(golden, sonde):
    mine = section(plain(sonde("analyze").out), "Overall Statistics")
    theirs = section(plain(golden["analyze_stdout"]), "Overall Statistics")
    assert [line.split(", of them failed")[0] for line in mine[:len(theirs)]] == theirs
    assert "   npu operations: 1 (4.00 ms)" in mine  # the original leaves other devices out


@SESSION_DATA
def test_the_originals_own_session(folder, sonde):
    expected = json.loads((VECTORS / "split_upstream_analyze.json").read_text())
    for path in sorted((VECTORS / "sessions").glob("*.csv")):
        theirs = plain(expected[path.stem])
        mine = plain(sonde("analyze", path, "--no-write").out)
        for title in ("Overall Statistics", "Per-Worker Breakdown", "Per-Layer Breakdown",
                      "Top 5 Slowest Operations"):
            assert section(mine, title) == section(theirs, title)


def test_summary_is_rebuilt(golden, folder, sonde):
    path = folder / "telemetry" / "golden.json"
    path.unlink()
    done = sonde("analyze")
    assert done.code == 0 and "wrote the missing summary" in done.err
    mine = summary(path)
    for key in ("total_packets_processed", "cpu_packets", "igpu_packets", "failed_packets",
                "expert_selection_distribution", "success_rate"):
        assert mine[key] == golden["summary"][key]
    assert mine["operation_breakdown"]["only_fails"]["min_time_ms"] is None
    assert sonde("analyze").err == ""  # it is there now


def test_from_the_journal_as_from_the_csv(folder, environment, sonde):
    log(folder, environment, [packet(i, f"op{i % 3}", ["cpu", "igpu"][i % 2], i % 4, ms=1 + i % 7)
                              for i in range(200)], "both", tokens=7, prompt=2)
    base = folder / "telemetry" / "both"
    journal = json.loads(sonde("analyze", f"{base}.sonde", "--json").out)
    log_ = json.loads(sonde("analyze", f"{base}.csv", "--json").out)
    for key in ("total_packets_processed", "operation_breakdown", "workers", "layers", "slowest",
                "tokens_generated", "prompt_tokens"):
        assert journal[key] == log_[key], key
    assert journal["tokens_generated"] == 7
    assert journal["layers"]["0"]["p50_ms"] == pytest.approx(4, rel=0.01)


def test_by_and_top(folder, environment, sonde):
    log(folder, environment, [packet(i, "op", layer=i) for i in range(9)])
    out = sonde("analyze", "--by", "layer", "--top", "7").out
    assert "Top 7 Slowest Operations" in out and "Percentiles by layer" in out
    assert len(section(plain(out), "Top 7")) == 7
    wrong = sonde("analyze", "--by", "colour")
    assert wrong.code == 2 and "none of activity, worker, layer and device" in wrong.err


def test_signs_only_on_a_utf8_terminal(golden, sonde, sonde_in_terminal):
    assert sonde("analyze").out.isascii() is False  # the é of an error message, and nothing else
    assert "📊" not in sonde("analyze").out
    assert "📊" in sonde_in_terminal("analyze").out
    assert "📊" not in sonde_in_terminal("analyze", env={"LANG": "C", "LC_ALL": "C"}).out


def test_control_characters_do_not_reach_the_terminal(folder, environment, sonde):
    log(folder, environment, [packet(1, "op", success=False, error_message="\x1b[31mred\x07")])
    out = sonde("analyze").out
    assert "\x1b" not in out and "\x07" not in out and "?[31mred?" in out


def rows_of(count):
    return "".join(f"1763318011.5,cpu,w,1.0,{i},0,op,True,0.00,\n" for i in range(count))


@pytest.mark.parametrize("name, text, code, expected", [
    ("empty.csv", "", 1, "the file is empty"),
    ("header.csv", HEADER + "\n", 0, ""),
    ("other.csv", "a,b,c\n1,2,3\n", 1, "not a log of work packets"),
    ("text.csv", "hello world\n" * 10, 1, "not a log of work packets"),
    ("nul.csv", "\0" * 4096, 1, "not a log of work packets"),
    ("x.sonde", "this is no journal", 1, "no valid frame"),
    ("absent.csv", None, 1, "there is no such file"),
])
def test_what_is_not_a_session(folder, sonde, name, text, code, expected):
    if text is not None:
        (folder / name).write_text(text)
    done = sonde("analyze", name, "--no-write")
    assert done.code == code and expected in done.err
    assert done.err.count("\n") == (1 if expected else 0)


@pytest.mark.parametrize("text, good, skipped", [
    (HEADER + "\r\n" + rows_of(3).replace("\n", "\r\n"), 3, {}),
    (HEADER + "\n" + rows_of(3)[:-9], 2, {"rows_incomplete": 1}),
    (HEADER + "\n" + rows_of(2) + HEADER + "\n" + rows_of(1), 3, {"headers_repeated": 1}),
    (HEADER + "\n" + '1.0,cpu,"w,1.0,1,0,op,True,0.00,\n' + rows_of(4), 4, {"rows_incomplete": 1}),
    (HEADER + "\n1.0,cpu,w,abc,1,0,op,True,0,\n" + rows_of(1), 1, {"rows_not_understood": 1}),
    (HEADER + "\n" + rows_of(1) + "\0" * 500 + "\n" + rows_of(1), 2, {"rows_incomplete": 1}),
    (HEADER + "\n" + "x" * 3_000_000 + "\n" + rows_of(2), 2, {"rows_too_long": 1}),
    ("operation,extra,duration_ms\nop,1,2.5\nop,2,1e-3\n", 2, {}),
    ("\ufeff" + HEADER + "\n" + rows_of(1), 1, {}),
])
def test_what_can_be_read_is_read(folder, sonde, text, good, skipped):
    (folder / "bad.csv").write_text(text, newline="")
    done = sonde("analyze", "bad.csv", "--json", "--no-write")
    assert done.code == 0
    got = json.loads(done.out)
    assert got["total_packets_processed"] == good
    counts = {key: value for key, value in got["input"].items() if key.startswith(("rows", "head"))}
    assert {key: value for key, value in counts.items() if value} == skipped


def test_truncated_and_damaged_journals(folder, environment, sonde):
    log(folder, environment, [packet(i, "op") for i in range(5000)], "cut")
    path = folder / "telemetry" / "cut.sonde"
    whole = path.read_bytes()
    path.write_bytes(whole[:len(whole) * 2 // 3])
    done = sonde("analyze", path, "--json", "--no-write")
    assert done.code == 0 and 0 < json.loads(done.out)["total_packets_processed"] < 5000
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xff
    path.write_bytes(damaged)
    done = sonde("analyze", path, "--json", "--no-write")
    got = json.loads(done.out)
    assert done.code == 0 and got["total_packets_processed"] > 0
    assert got["loss"]["missing"] > 0 and got["input"]["unreadable_bytes"] > 0


def test_nothing_recorded_yet(folder, sonde):
    done = sonde("analyze")
    assert done.code == 1 and "no session in telemetry/" in done.err and "sonde run" in done.err
    done = sonde("analyze", folder)
    assert done.code == 1 and done.err.count("\n") == 1
