# SPDX-License-Identifier: Apache-2.0
"""Includes point one way (docs/architecture.md), a file includes its own header first, and file
names are unique, so that an error message names one file.
   usage: check_includes.py SOURCE_FOLDER [BUILD_FOLDER]"""
import pathlib
import re
import sys
from collections import Counter

import tree

# folder of src/: folders whose headers it may include beside its own
ALL = {"base", "capture", "settings", "record", "view", "attributes", "analysis", "agent"}
MAY_INCLUDE = {
    "base": set(),
    "capture": {"base"},
    "settings": {"base", "capture"},
    "record": {"base", "capture", "settings"},
    "view": {"base", "capture", "record"},
    "attributes": {"base", "settings", "record"},
    "analysis": {"base", "record", "view"},
    "agent": ALL - {"agent"},
    "serve": ALL - {"agent", "attributes"},
    "cli": ALL,
}
# public header: the folder that implements it
PUBLIC = {
    "status.h": "base",
    "fields.h": "capture",
    "capture.h": "capture",
    "gpu.h": "capture",
    "machine.h": "capture",
    "settings.h": "settings",
    "attributes.h": "attributes",
    "usage_metrics.h": "attributes",
    "processor.h": "attributes",
    "logger.h": "view",
    "encode.h": "view",
    "lane_abi.h": "record",
    "metric.h": "record",
    "metric_set.h": "record",
    "snapshot.h": "record",
    "task_telemetry.h": "record",
    "attr.h": "record",
    "lane_abi.h": "record",
    "metric.h": "record",
    "metric_set.h": "record",
    "name.h": "record",
    "reader.h": "record",
    "session.h": "record",
    "snapshot.h": "record",
    "task.h": "record",
    "task_telemetry.h": "record",
    "sonde.h": "cli",  # all of them: for users and the program
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def folder_of(include):
    """The folder of src/ that a header belongs to; None when nothing is known about it."""
    place, _, name = include.rpartition("/")
    return PUBLIC.get(name) if place == "sonde" else place


def own_header(name, all_names):
    """The header that name implements: next to it, or the public one of the same folder."""
    path = pathlib.PurePath(name)
    beside = path.with_suffix(".h")
    if str(beside) in all_names:
        return f"{path.parent.name}/{beside.name}"
    if PUBLIC.get(beside.name) == path.parent.name:
        return f"sonde/{beside.name}"
    return None


def check_file(name, text, all_names):
    path = pathlib.PurePath(name)
    public = path.parts[0] == "include"
    folder = PUBLIC.get(path.name) if public else path.parts[1]
    if folder not in MAY_INCLUDE:
        yield f"{name}: not in the table of {pathlib.Path(__file__).name}; add it"
        return
    includes = INCLUDE.findall(tree.without_comments(text, keep_strings=True))
    for include in includes:
        target = folder_of(include)
        if "/" not in include:
            yield f'{name}: "{include}" has no folder; write "folder/{include}"'
        elif target is None:
            yield f'{name}: "{include}" is not known; add it to the table of public headers'
        elif target != folder and target not in MAY_INCLUDE[folder]:
            yield f'{name}: {folder} must not include "{include}" of {target}'
        elif public and not include.startswith("sonde/"):
            yield f'{name}: a public header includes the private "{include}"'
    own = own_header(name, all_names) if name.endswith(".c") else None
    if own and (not includes or includes[0] != own):
        yield f'{name}: its own header "{own}" does not come first'


def check(root):
    root = pathlib.Path(root)
    names = [name for name in tree.files(root, ".c", ".h") if name.startswith(("src/", "include/"))]
    for name in names:
        yield from check_file(name, (root / name).read_text(), set(names))
    for name, count in Counter(pathlib.PurePath(name).name for name in names).items():
        if count > 1:
            yield f"{name}: {count} files have this name"
    if not names:
        yield "no sources found"


if __name__ == "__main__":
    tree.report(list(check(sys.argv[1])), "includes")
