# SPDX-License-Identifier: Apache-2.0
"""Calls that src/ must not make, and JSON made without the JSON writer.
   usage: check_banned.py SOURCE_FOLDER [BUILD_FOLDER]"""
import pathlib
import re
import sys

import tree

BANNED = {
    "sprintf": "snprintf", "vsprintf": "vsnprintf", "strcat": "sonde__buf", "strncat": "sonde__buf",
    "strcpy": "memcpy with its length", "gets": "read", "strtok": "strcspn", "strtok_r": "strcspn",
    "system": "nothing: no subprocesses", "popen": "nothing: no subprocesses",
}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
# {\" begins an object, \"name\": is a key
JSON_TEXT = re.compile(r'\{\s*\\"|\\"[\w.%*-]+\\"\s*:')
JSON_WRITER = "src/base/json_write.c"


def check_text(name, text):
    code = tree.without_comments(text)
    for match in CALL.finditer(code):
        yield f"{name}:{tree.line_of(code, match.start())}: {match[1]}; use {BANNED[match[1]]}"
    if name == JSON_WRITER:
        return
    with_strings = tree.without_comments(text, keep_strings=True)
    for match in tree.TOKEN.finditer(with_strings):
        if match[0][0] == '"' and JSON_TEXT.search(match[0]):
            line = tree.line_of(with_strings, match.start())
            yield f"{name}:{line}: JSON in a string; use base/json_write.h"


def check(root):
    root = pathlib.Path(root)
    for name in tree.files(root, ".c", ".h"):
        if name.startswith("src/"):
            yield from check_text(name, (root / name).read_text())


if __name__ == "__main__":
    tree.report(list(check(sys.argv[1])), "banned calls")
