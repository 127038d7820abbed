# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the files of the tree, C without its comments, the way to report."""
import pathlib
import re
import subprocess
import sys

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def files(root, *endings):
    """Tracked files with these endings, or all where the tree is no repository; relative to root."""
    root = pathlib.Path(root)
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True)
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.decode().split("\0")
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    return sorted(name for name in names if name.endswith(endings)
                  and not name.startswith("build/") and (root / name).is_file())


def without_comments(text, keep_strings=False):
    """C text of the same lines and columns, comments (and strings) blanked."""
    def blank(match):
        token = match[0]
        if keep_strings and token[0] in "\"'":
            return token
        kept = token[0] + token[-1] if token[0] in "\"'" else ""
        inner = re.sub(r"[^\n]", " ", token[1:-1] if kept else token)
        return kept[:1] + inner + kept[1:]
    return TOKEN.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def report(problems, what):
    """Prints the problems and ends with exit code 1, or says that all is well."""
    for problem in problems:
        print(problem)
    print(f"{what}: {len(problems)} problems" if problems else f"{what}: ok")
    sys.exit(1 if problems else 0)
