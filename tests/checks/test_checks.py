# SPDX-License-Identifier: Apache-2.0
"""Each check finds what it is there to find, and passes what is good."""
import pytest

import check_banned
import check_includes
import check_style
import check_symbols

NAMES = {"src/base/buf.c", "src/base/buf.h", "src/capture/capture.c", "src/cli/main.c"}


@pytest.mark.parametrize("name, text", [
    ("src/base/buf.c", '#include "base/buf.h"\n#include <stdio.h>\n'),
    ("src/capture/capture.c", '#include "sonde/capture.h"\n#include "base/buf.h"\n'),
    ("src/cli/main.c", '#include "settings/x.h"\n#include "sonde/sonde.h"\n'),
    ("include/sonde/settings.h", '#include "sonde/capture.h"\n'),
    ("src/base/ids.c", '/* #include "capture/x.h" */\n'),
])
def test_good_includes(name, text):
    assert list(check_includes.check_file(name, text, NAMES)) == []


@pytest.mark.parametrize("name, text, problem", [
    ("src/base/buf.c", '#include "base/buf.h"\n#include "capture/x.h"\n', "base must not include"),
    ("src/base/ids.c", '#include "sonde/capture.h"\n', "base must not include"),
    ("src/capture/x.c", '#include "settings/x.h"\n', "capture must not include"),
    ("src/record/x.c", '  #  include "cli/x.h"\n', "record must not include"),
    ("src/base/buf.c", '#include "base/ids.h"\n#include "base/buf.h"\n', "does not come first"),
    ("src/base/buf.c", "", "does not come first"),
    ("src/capture/capture.c", '#include "base/buf.h"\n#include "sonde/capture.h"\n', "does not come first"),
    ("src/base/ids.c", '#include "buf.h"\n', "has no folder"),
    ("src/base/ids.c", '#include "sonde/unknown.h"\n', "is not known"),
    ("include/sonde/capture.h", '#include "base/buf.h"\n', "private"),
    ("include/sonde/unknown.h", "", "not in the table"),
    ("src/unknown/x.c", "", "not in the table"),
])
def test_bad_includes(name, text, problem):
    found = list(check_includes.check_file(name, text, NAMES))
    assert len(found) == 1 and problem in found[0]


def test_symbols():
    ours = {"sonde_open", "sonde_close"}
    assert list(check_symbols.compare(ours, ours)) == []
    assert list(check_symbols.compare(ours, ours | {"sonde__inner"})) != []
    assert list(check_symbols.compare(ours, ours | {"helper"})) != []
    assert list(check_symbols.compare(ours, ours | {"sonde_secret"})) != []
    assert list(check_symbols.compare(ours, {"sonde_open"})) != []
    assert list(check_symbols.compare(set(), set())) != []


def test_declarations(tmp_path):
    header = tmp_path / "include" / "sonde" / "x.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define SONDE_API __attribute__((x))\n/* SONDE_API int sonde_no(void); */\n"
                      "SONDE_API const char *sonde_yes(int a,\n  int b);\nint sonde_private(void);\n"
                      "SONDE_API void\nsonde_too(void);\n")
    assert check_symbols.declared(tmp_path) == {"sonde_yes", "sonde_too"}


@pytest.mark.parametrize("text", ["sprintf(a, b);", "x = strtok (a, b);", "(void)system(a);", "strcpy(a, b);",
                                  r'printf("{\"a\":1}");', r'puts("\"%s\": 3");'])
def test_banned(text):
    assert len(list(check_banned.check_text("src/x.c", text))) == 1


@pytest.mark.parametrize("text", ["snprintf(a);", "/* sprintf(a) */", 'puts("system(1)");', "a->system(1);",
                                  r'puts("expected \"}\"");', "my_system(1);", '// "{\\"a\\":1}"\n'])
def test_not_banned(text):
    assert list(check_banned.check_text("src/x.c", text)) == []


def function(lines):
    return "static int f(int a,\n             int b)\n{\n" + "    a++;\n" * lines + "}\n"


def test_style():
    licence = f"/* {check_style.LICENCE} */\n"
    assert list(check_style.check_text("x.c", licence + function(70))) == []
    assert list(check_style.check_text("x.c", licence + function(71))) == ["x.c:2: f has 71 lines"]
    assert list(check_style.check_text("x.c", licence + function(60) * 2)) == []
    assert list(check_style.check_text("x.c", licence + "\n" * 600)) == ["x.c: 601 lines"]
    assert list(check_style.check_text("x.c", function(1))) == [f"x.c:1: no line {check_style.LICENCE}"]
