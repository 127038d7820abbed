# SPDX-License-Identifier: Apache-2.0
"""The documents do what they say: commands run, links lead somewhere, no file names another machine."""
import re
import subprocess

import pytest

from conftest import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def script_of(kind, text):
    """What a block asks to be typed: all of a `sh` block, what follows "$ " in a `console` block;
    without `make`, which the tests themselves were started by."""
    lines = text.splitlines()
    if kind == "console":
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return "\n".join(line for line in lines if not line.startswith(("make ", "sudo make ")))


def scripts(kinds=("sh", "console")):
    for document in DOCUMENTS:
        for number, (kind, text) in enumerate(BLOCK.findall(document.read_text()), 1):
            if kind in kinds and script_of(kind, text).strip():
                yield pytest.param(script_of(kind, text), id=f"{document.name}-{number}")


@pytest.mark.parametrize("script", scripts())
def test_commands_run(script, environment, folder):
    done = subprocess.run(["sh", "-eu", "-c", script], cwd=folder, env=environment, timeout=30,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    told = re.search(r"^sonde run (?!.*--quiet)", script, re.M)  # its summary goes to stderr
    assert (done.returncode, done.stderr == "" or bool(told)) == (0, True), script


def test_there_are_commands():
    assert len(list(scripts())) >= 3


def links():
    for document in DOCUMENTS:
        prose = BLOCK.sub("", document.read_text())
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if not re.match(r"[a-z]+:|#", target):
                yield pytest.param(document, target, id=f"{document.name}-{target}")


@pytest.mark.parametrize("document, target", links())
def test_link_leads_somewhere(document, target):
    assert (document.parent / target.partition("#")[0]).exists()


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in ROOT.rglob("*") if path.is_file()
            and path.relative_to(ROOT).parts[0] not in ("build", ".git")]


# Paths that exist on one machine only, and Flowcept by any other name than its own. Put together,
# so that this file passes. (Random numbers may have a seed.)
FOREIGN = re.compile("|".join([
    r"(?<![\w.~$})])/" + r"(?:home/\w+|root|work)/\w",
    r"\b(?:the|each|both) " + r"seeds?(?:'s)?\b(?! of a| for)", r"\bseed" + r"'s\b", r"\bseed" + r"s/",
]), re.I)


def test_nothing_names_another_machine():
    found = []
    for path in tracked_files():
        if not path.is_file() or path.is_symlink():
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in FOREIGN.finditer(text)]
    assert found == []


@pytest.mark.parametrize("text, bad", [
    ("as the " + "seed has it", True), ("/" + "work/main/x", True), ('"/' + 'root/x"', True),
    ("uint64_t seed = 1;", False), ("the " + "seed of a generator", False), ("~/" + "work/x", False),
    ("build/" + "root/x", False)])
def test_the_search_finds_what_it_should(text, bad):
    assert bool(FOREIGN.search(text)) == bad
