# SPDX-License-Identifier: Apache-2.0
"""libsonde.so exports what the public headers declare with SONDE_API, and nothing else.
   usage: check_symbols.py SOURCE_FOLDER BUILD_FOLDER"""
import pathlib
import re
import subprocess
import sys

import tree

SONAME = "libsonde.so.0"
NAME = re.compile(r"sonde_[a-z][a-z0-9_]*")
# exported although their names are not of that form; each with its reason
ALLOWED = {"sonde__lane"}  # what the inline check of the hot path reads
DECLARATION = re.compile(r"\bSONDE_API\b[^;{]*?\b(\w+)\s*\(")


def declared(root):
    found = set()
    for name in tree.files(root, ".h"):
        if name.startswith("include/"):
            text = re.sub(r"#[ \t]*define[^\n]*(?:\\\n[^\n]*)*", "",
                          tree.without_comments((root / name).read_text()))
            found.update(DECLARATION.findall(text))
    return found


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library):
    lines = output_of("nm", "-D", "--defined-only", "--format=posix", library).splitlines()
    return {line.split()[0].split("@")[0] for line in lines}


def compare(in_headers, in_library):
    for name in sorted(in_library - ALLOWED):
        if not NAME.fullmatch(name):
            yield f"{name} is exported, but is not a name of ours"
        elif name not in in_headers:
            yield f"{name} is exported, but no public header declares it"
    for name in sorted(in_headers - in_library):
        yield f"{name} is declared SONDE_API, but not exported"
    if not in_headers:
        yield "no declarations found"


def check(root, build):
    library = build / "lib" / "libsonde.so"
    yield from compare(declared(root), exported(library))
    soname = re.search(r"SONAME\s+(\S+)", output_of("objdump", "-p", library))
    if not soname or soname[1] != SONAME:
        yield f"the soname is {soname and soname[1]}, not {SONAME}"


if __name__ == "__main__":
    tree.report(list(check(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))), "symbols")
