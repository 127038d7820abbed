# SPDX-License-Identifier: Apache-2.0
"""Functions of at most 70 lines, files of at most 600, a licence line in each source.
   usage: check_style.py SOURCE_FOLDER [BUILD_FOLDER]"""
import pathlib
import re
import sys

import tree

FUNCTION_LINES = 70
FILE_LINES = 600
LICENCE = "SPDX-License-Identifier: Apache-2.0"
# a brace in the first column opens a function, another one closes it (.clang-format sees to that)
FUNCTION = re.compile(r"^([^\s{}#][^\n]*(?:\n[ \t][^\n]*)*)\n\{\n(.*?)^\}", re.M | re.S)


def long_functions(name, text):
    code = tree.without_comments(text)
    for match in FUNCTION.finditer(code):
        lines = match[2].count("\n")
        if lines > FUNCTION_LINES:
            heading = match[1].split("(")[0].split()[-1]
            yield f"{name}:{tree.line_of(code, match.start())}: {heading} has {lines} lines"


def check_text(name, text):
    if LICENCE not in "\n".join(text.splitlines()[:2]):
        yield f"{name}:1: no line {LICENCE}"
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"{name}: {lines} lines"
    if name.endswith((".c", ".h", ".cpp")):
        yield from long_functions(name, text)


def check(root):
    root = pathlib.Path(root)
    for name in tree.files(root, ".c", ".h", ".cpp", ".py"):
        yield from check_text(name, (root / name).read_text())


if __name__ == "__main__":
    tree.report(list(check(sys.argv[1])), "style")
