"""What a scan hides, keeps, fixes and counts."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import needs
from d9m.errors import DataError
from d9m.scan import fixes as fixes_module
from d9m.scan.baseline import read_baseline, render_baseline
from d9m.scan.file_kinds import Kind
from d9m.scan.file_names import on_disk
from d9m.scan.fixes import FixedFile, RefusedFix, fixed_files, write_fixed
from d9m.scan.ignores import find_ignores
from d9m.scan.read_file import FileRead, read_file
from d9m.scan.result import ScanOutcome
from d9m.scan.rules.catalogue import RULES
from d9m.scan.rules.rule import ScanRule
from d9m.scan.rules.upkeep import UNUSED_IGNORE
from d9m.scan.scanning import ScanRequest, configured, scan
from golden import knowledge_base
from process import COMMAND, compiled_kb, d9m, environment
from scan.folders import codes, scanned, write
from scan.projects import vocabulary

IDLE = "a = 1  # d9m: ignore[order] it was once\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_comments_of_every_kind_of_file() -> None:
    python = 'x = "# d9m: ignore"\ny = 1 # d9m:ignore[a, b]  why # noqa\n  # d9m: ignore-file[c]\n'
    first, second = find_ignores("python", python)
    assert (first.line, first.column, first.codes, first.reason) == (2, 7, ("a", "b"), "why")
    assert (first.alone, second.alone, second.whole_file) == (False, True, True)
    assert first.covers(1, 2)
    assert not first.covers(3, 3)
    shell = find_ignores("shell", "export A=1 # d9m: ignore\n")[0]
    assert (shell.line, shell.codes) == (1, ())
    assert find_ignores("python", "x = 1 # noqa\n") == ()
    assert find_ignores("python", "x = ( # d9m: ignore\n")[0].line == 1


def test_a_comment_hides_what_its_statement_has(here: Path) -> None:
    write(here, {"a.py": f"# d9m: ignore[unused-ignore] known\n{IDLE}"})
    assert codes(scanned()) == ["a.py:1 unused-ignore", "a.py:2 unused-ignore"]


def test_a_wrong_comment_is_a_finding(here: Path) -> None:
    write(here, {"a.py": "a = 1  # d9m: ignore[unused-ignor]\n", "run.sh": "A=1 # d9m: ignore\n"})
    found = scanned().report.findings
    assert [finding.message for finding in found] == [
        "No rule or family is called unused-ignor; did you mean unused-ignore?",
        "This comment hides nothing: no rule finds anything here.",
    ]


def test_a_comment_that_a_readme_shows_is_no_comment(here: Path) -> None:
    write(here, {"a.py": "x = 1\n", "README.md": "x = 1  # d9m: ignore[CODE] reason\n"})
    assert codes(scanned()) == []


def test_the_samples_of_the_rule_on_comments(here: Path) -> None:
    write(here, {"bad.py": UNUSED_IGNORE.bad, "good.py": UNUSED_IGNORE.good})
    assert codes(scanned()) == ["bad.py:1 unused-ignore"]


def test_a_comment_hides_what_it_names(here: Path) -> None:
    late = 'import os\nos.environ["PYTHONHASHSEED"] = (\n    "0")'
    hidden = ["  # d9m: ignore[late-hash-seed] for children", "  # d9m: ignore[settings, order]"]
    write(here, {f"m{number}.py": f"{late}{end}\n" for number, end in enumerate(["", *hidden])})
    write(here, {"m3.py": f"# d9m: ignore-file[settings]\n{late}\n"})
    write(here, {"m4.py": late.replace("\nos", "\n# d9m: ignore[late-hash-seed]\nos")})
    outcome = scanned()
    assert codes(outcome) == ["m0.py:2 late-hash-seed", "m2.py:3 unused-ignore"]
    assert outcome.report.suppressed == 4
    assert [(one.finding.path, one.reason) for one in outcome.hidden] == [
        ("m1.py", "for children"), ("m2.py", ""), ("m3.py", ""), ("m4.py", ""),
    ]  # fmt: skip


def test_a_fingerprint_stays_when_lines_move(here: Path) -> None:
    write(here, {"a.py": IDLE + IDLE})
    before = [finding.fingerprint for finding in scanned().report.findings]
    assert len(set(before)) == 2
    write(here, {"a.py": f"import os\n\n{IDLE.replace('  #', '      #')}b = 2\n{IDLE}"})
    assert [finding.fingerprint for finding in scanned().report.findings] == before
    write(here, {"a.py": IDLE.replace("a =", "b =")})
    assert scanned().report.findings[0].fingerprint not in before


def test_a_baseline_leaves_what_is_new(here: Path) -> None:
    write(here, {"a.py": IDLE, "b.py": IDLE})
    text = render_baseline(scanned().every)
    assert text.count("\n") == 4
    write(here, {"known.json": text, "a.py": f"\n{IDLE}c = 1  # d9m: ignore[order]\n", "b.py": ""})
    assert len(codes(scanned())) == 2
    kb = knowledge_base()
    request = ScanRequest(cache=False)
    report = scan(kb, request, configured(kb, request), read_baseline("known.json")).report
    assert [finding.line for finding in report.findings] == [3]
    assert (report.known, report.gone) == (1, ["unused-ignore b.py"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is damaged"),
        (b"[]", "is damaged"),
        (b'{"version": 1, "findings": [{"path": 3}]}', "is damaged"),
        (b'{"version": 99, "findings": []}', "newer d9m: it has version 99"),
        (b"\xff", "it is not UTF-8"),
        (b"[" * 5000, "is damaged"),
    ],
)
def test_a_damaged_baseline_is_one_error(here: Path, content: bytes, message: str) -> None:
    write(here, {"known.json": content})
    with pytest.raises(DataError, match=message):
        read_baseline("known.json")


def test_a_missing_baseline_is_an_error() -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_baseline("nothing.json")


def fix(unsafe: bool = False) -> list[str]:
    outcome = scanned()
    kinds = dict(outcome.walk.files)
    files, refused = fixed_files(outcome.walk.root, kinds, outcome.report.findings, unsafe)
    assert refused == []
    for file in files:
        assert write_fixed(outcome.walk.root, file) is None
    return [file.path for file in files]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (IDLE, "a = 1\n"),
        ("# d9m: ignore[order]\nb = 2\n", "b = 2\n"),
        ("b = 2\n    # d9m: ignore[order]", "b = 2\n"),
        (f"é = 'ü'; {IDLE}", "é = 'ü'; a = 1\n"),
        (f"\ufeffx = 0\r\n{IDLE}".replace("it was once\n", "once\r\n"), "\ufeffx = 0\r\na = 1\r\n"),
        (f"x = '''\u2028\x0c'''\n{IDLE}", "x = '''\u2028\x0c'''\na = 1\n"),
    ],
)
def test_a_fix_changes_its_place_and_nothing_else(here: Path, before: str, after: str) -> None:
    write(here, {"a.py": before.encode()})
    (here / "a.py").chmod(0o755)
    assert fix() == ["a.py"]
    assert (here / "a.py").read_bytes().decode() == after
    assert (here / "a.py").stat().st_mode & 0o777 == 0o755
    assert fix() == []
    assert codes(scanned()) == []


FOUND = [rule for rule in RULES if rule.severity != "missing"]


@pytest.mark.parametrize("rule", FOUND, ids=lambda rule: rule.code)
def test_a_fix_ends_its_finding_and_is_made_once(here: Path, rule: ScanRule) -> None:
    write(here, {rule.sample: rule.bad, "requirements.txt": "torch==2.4.1\n"})
    fixes = [one.fix for one in scanned().report.findings if one.code == rule.code and one.fix]
    if rule.fixable == "no":
        assert fixes == []
        return
    assert all(one.safe == (rule.fixable == "safe") for one in fixes)
    assert fixes
    assert fix(unsafe=True) == [rule.sample]
    outcome = scanned()
    assert rule.code not in {finding.code for finding in outcome.report.findings}
    assert outcome.report.files.unreadable == []
    once = (here / rule.sample).read_bytes()
    fix(unsafe=True)
    assert (here / rule.sample).read_bytes() == once


TWINS = """import os
import random

images = [read(name) for name in os.listdir(root)]
labels = [label(name) for name in {}]
random.Random(1).shuffle(images)
random.Random(1).shuffle(labels)
"""


def test_one_of_two_listings_that_belong_together_is_not_sorted_alone(here: Path) -> None:
    write(here, {"a.py": TWINS.format("os.listdir(root)")})
    found = [one for one in scanned().report.findings if one.code == "unsorted-listing"]
    ways = [one.workaround for one in found]
    assert ways == ["sorted(os.listdir(root))"] * 2
    assert fix() == []
    assert fix(unsafe=True) == ["a.py"]
    assert (here / "a.py").read_text().count("sorted(") == 2


def test_a_listing_whose_twin_is_sorted_is_fixed(here: Path) -> None:
    write(here, {"a.py": TWINS.format("sorted(os.listdir(root))")})
    assert fix() == ["a.py"]


def fixes(*paths: str) -> tuple[list[FixedFile], list[RefusedFix]]:
    outcome = scanned(*paths)
    kinds = dict(outcome.walk.files)
    return fixed_files(outcome.walk.root, kinds, outcome.report.findings, False)


def test_a_fix_that_cannot_be_written_is_refused(here: Path) -> None:
    write(here, {"a.py": IDLE})
    file = fixes()[0][0]
    refusal = write_fixed(str(here / "nowhere"), file)
    assert refusal == RefusedFix("a.py", "it cannot be written: No such file or directory")


@pytest.mark.parametrize("full", [True, False], ids=["disk full", "interrupted"])
def test_a_fix_that_fails_half_way_leaves_the_file_as_it_was(
    here: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    write(here, {"a.py": IDLE})
    file = fixes()[0][0]
    usual = fixes_module._overwrite
    calls: list[bytes] = []

    def broken(opened: io.FileIO, data: bytes) -> None:
        calls.append(data)
        usual(opened, data[:3] if len(calls) == 1 else data)
        if len(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device") if full else KeyboardInterrupt

    monkeypatch.setattr(fixes_module, "_overwrite", broken)
    if full:
        refusal = write_fixed(str(here), file)
        assert refusal == RefusedFix("a.py", "it cannot be written: No space left on device")
    else:
        with pytest.raises(KeyboardInterrupt):
            write_fixed(str(here), file)
    assert (here / "a.py").read_text() == IDLE


ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
COMMENT = b"a = 1  # d9m: ignore[order]"


def _odd_texts() -> dict[str, bytes]:
    """Return a file for every combination of line ends, contents and last bytes."""
    found: dict[str, bytes] = {}
    for name, end in ENDS.items():
        for last, closing in {"": end, "-open": b""}.items():
            for start, opening in {"": b"", "-bom": b"\xef\xbb\xbf"}.items():
                lines = [b"x = 1", b"y = 2\x0c", "z = 'é\u2028\x85'".encode(), COMMENT]
                found[f"{name}{last}{start}"] = opening + end.join(lines) + closing
    found["mixed"] = b"x = 1\r\ny = 2\rz = 3\n" + COMMENT + b"\r\nb = 1\r"
    found["only"] = COMMENT
    found["latin"] = b"# coding: latin-1\ns = '\xe9'\n" + COMMENT + b" \xfc\n"
    found["japanese"] = "# coding: shift-jis\ns = '日本'\n".encode("shift-jis") + COMMENT + b"\n"
    return found


ODD_TEXTS = _odd_texts()
ODD_NAMES = [
    "a.py", "a b.py", "é/ü.py", "a\nb.py", 'q"uote.py', "b\\c.py", "\udcff.py", "t\tab.py", "-x.py",
    "日本.py", "'s.py", "sub/$HOME.py",
]  # fmt: skip
APPLIERS = {"git": ["git", "apply", "-"], "patch": ["patch", "-p1", "--silent"]}


@pytest.mark.parametrize("applier", APPLIERS)
def test_a_patch_applies_byte_for_byte(here: Path, applier: str) -> None:
    needs(shutil.which(applier) is not None, applier, f"apt-get install {applier}")
    for name, data in ODD_TEXTS.items():
        write(here, {f"texts/{name}.py": data})
    for name in ODD_NAMES:
        write(here, {f"names/{name}": COMMENT + b"\n"})
    outcome = scanned()
    files, refused = fixes()
    assert refused == []
    assert len(files) == len(ODD_TEXTS) + len(ODD_NAMES)
    patch = b"".join(file.diff(str(here)) for file in files)
    done = subprocess.run(APPLIERS[applier], input=patch, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    for file in files:
        assert Path(on_disk(str(here), file.path)).read_bytes() == file.after, file.path
    assert not scanned().report.findings
    assert len(outcome.report.findings) == len(files)


def test_the_command_writes_a_patch_byte_for_byte(here: Path) -> None:
    write(here, {f"{name}.py": data for name, data in ODD_TEXTS.items()})
    wanted = b"".join(file.diff(str(here)) for file in fixes()[0])
    done = d9m("scan", "--no-cache", "--diff", "-o", "fixes.patch", cwd=here)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert (here / "fixes.patch").read_bytes() == wanted
    for name in ("latin.py", "japanese.py"):
        (here / name).unlink()
    wanted = b"".join(file.diff(str(here)) for file in fixes()[0])
    assert d9m("scan", "--no-cache", "--diff", cwd=here).stdout.encode() == wanted


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_a_fix_keeps_every_other_byte(here: Path, name: str) -> None:
    data = ODD_TEXTS[name]
    write(here, {"a.py": data})
    assert fix() == ["a.py"]
    comment = b"  # d9m: ignore[order]" + (b" \xfc" if name == "latin" else b"")
    assert (here / "a.py").read_bytes() == data.replace(comment, b"")


def test_a_fix_that_the_coding_of_a_file_cannot_hold_is_refused(here: Path) -> None:
    text = "# coding: iso2022_jp\ns = '日'\n".encode("iso2022_jp")
    doubled = text.replace(b"\x1b(B", b"\x1b(B\x1b(B")
    write(here, {"a.py": doubled + COMMENT + b"\n"})
    files, refused = fixes()
    assert files == []
    why = "its coding, iso2022_jp, cannot hold the fixed text; fix it by hand"
    assert refused == [RefusedFix("a.py", why)]


def test_a_link_that_is_named_is_not_fixed(here: Path) -> None:
    write(here, {"real/a.py": IDLE})
    (here / "link.py").symlink_to("real/a.py")
    (here / "folder").symlink_to("real")
    why = "it is reached through a symbolic link; name the file itself"
    assert fixes("link.py") == ([], [RefusedFix("link.py", why)])
    assert fixes("folder/a.py") == ([], [RefusedFix("folder/a.py", why)])
    assert (here / "link.py").is_symlink()


def test_a_fixed_file_stays_the_same_file(here: Path) -> None:
    write(here, {"a.py": IDLE})
    path = here / "a.py"
    path.chmod(0o640)
    os.link(path, here / "partner.txt")
    if os.geteuid() == 0:
        os.chown(path, 12345, 23456)
    with contextlib.suppress(OSError):
        os.setxattr(path, "user.kept", b"yes")
    before = path.stat()
    attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    assert fix() == ["a.py"]
    after = path.stat()
    assert (here / "partner.txt").read_text() == "a = 1\n"
    for field in ("st_ino", "st_uid", "st_gid", "st_mode", "st_nlink"):
        assert getattr(before, field) == getattr(after, field), field
    assert {name: os.getxattr(path, name) for name in os.listxattr(path)} == attributes


def test_a_read_only_file_is_not_fixed(here: Path) -> None:
    write(here, {"a.py": IDLE})
    (here / "a.py").chmod(0o444)
    assert write_fixed(str(here), fixes()[0][0]) == RefusedFix("a.py", "it is read-only")
    assert (here / "a.py").read_text() == IDLE


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": "text"},
        {"cell_type": "code", "source": ["%env A=1\n", "!ls"]},
        {"cell_type": "code", "source": f"\n{IDLE}"},
    ]
}


def test_a_finding_of_a_notebook_names_its_cell_and_is_never_fixed(here: Path) -> None:
    write(here, {"a.ipynb": json.dumps(NOTEBOOK)})
    finding = scanned().report.findings[0]
    assert (finding.cell, finding.line, finding.end_line, finding.fix) == (3, 2, 2, None)
    assert fix(unsafe=True) == []


BAD: dict[str, str | bytes] = {
    "latin.py": b"x = '\xff'\n",
    "old.py": "print 'x'\n",
    "template.py": "{% if a %}\nx = {{ b }}\n{% endif %}\n",
    "nul.py": b"x = 1\0\n",
    "deep.py": "x = " + "(" * 2000 + ")" * 2000 + "\n",
    "minus.py": "x = " + "-" * 20_000 + "1\n",
    "blocks.py": "".join(" " * depth + "if 1:\n" for depth in range(200)),
    "long.py": "x = [" + "1," * 3_000_000 + "]\n",
    "list.ipynb": "[1, 2]",
    "broken.ipynb": "{",
    "nested.ipynb": "[" * 100_000,
    "latin.sh": b"export A=\xff\n",
    "nul.yaml": b"a: \0\n",
    "cookie.py": b"# -*- coding: unheard-of -*-\nx = 1\n",
    "bom16.py": "x = 1\n".encode("utf-16"),
}
GOOD: dict[str, str | bytes] = {
    "empty.py": "",
    "cookie8.py": "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
    "crlf.py": "x = 1\r\ny = 2\r\n",
    "bom.py": "\ufeffx = 1\n",
    "wide.py": "x = '" + "a" * 2_000_000 + "'\n",
    "empty.ipynb": '{"cells": []}',
    "r.ipynb": '{"cells": [{"cell_type": "code", "source": "x <- 1"}], '
    '"metadata": {"kernelspec": {"language": "R"}}}',
    "v3.ipynb": '{"worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1"}]}]}',
    "odd.yaml": "a: [\n- ]: {{ x }}\n\t- b\n",
}


def test_odd_files_get_a_line_each_and_the_rest_goes_on(here: Path) -> None:
    write(here, {**BAD, **GOOD, "a.py": IDLE})
    (here / "loop.py").symlink_to("loop.py")
    outcome = scanned()
    assert "a.py:1 unused-ignore" in codes(outcome)
    unread = {file.path: file.why for file in outcome.report.files.unreadable}
    assert sorted(unread) == sorted([*BAD, "loop.py"])
    assert all(why and "\n" not in why for why in unread.values())
    assert outcome.report.files.read == len(GOOD) + 1
    assert all(file.needed for file in outcome.report.files.unreadable)


DEEP = {
    "a sum": " + ".join(["1"] * 20_000),
    "names": " + ".join(["a"] * 4_000),
    "attributes": "a" + ".b" * 4_000,
    "calls": "a" + ".b()" * 2_000,
    "conditions": " if a else ".join(["b"] * 1_500),
}
LISTING = """
import os, random
random.seed(0)
files = os.listdir("data")
random.shuffle(files)
"""


@pytest.mark.parametrize("name", DEEP)
def test_a_deep_expression_hides_nothing(here: Path, name: str) -> None:
    write(here, {"a.py": f"x = {DEEP[name]}\n{LISTING}"})
    outcome = scanned()
    if outcome.report.files.unreadable:  # by a parser with a fixed limit, from Python 3.12 on
        assert sys.version_info >= (3, 12)
        assert needed(outcome) == ["a.py"]
        return
    assert codes(outcome) == ["a.py:5 unsorted-listing"]
    assert fix() == ["a.py"]


def test_reading_deep_expressions_leaves_the_process_as_it_was(here: Path) -> None:
    before = (sys.getrecursionlimit(), threading.stack_size())
    for text in (DEEP["attributes"], "-" * 100_000 + "1"):
        write(here, {"a.py": f"x = {text}\n"})
        scanned()
    assert (sys.getrecursionlimit(), threading.stack_size()) == before


PIECES = st.sampled_from(
    [
        b"x = 1\n",
        b"'",
        b'"""',
        b"(",
        b"[",
        b"\\\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"# d9m: ignore[",
        b"def f():\n",
        b"\t",
        b"  ",
        b"%env A=1\n",
        b"!ls\n",
        b"{",
        b"}",
        b'"cells": [',
        b'"source": "',
        b":",
        b",",
        b"torch==2.4\n",
        b"[[package]]\n",
        b"FROM x\n",
        b"# -*- coding: x -*-\n",
        b"match x:\n",
        b"\xe2\x80\xa8",
    ]
)


@settings(max_examples=60, derandomize=True)
@given(st.lists(PIECES, max_size=25).map(b"".join), st.sampled_from(get_args(Kind)))
def test_no_bytes_are_too_odd(data: bytes, kind: Kind) -> None:
    for path in ("a", "pyproject.toml", "setup.py", "Pipfile.lock", "setup.cfg", "conda-lock.yml"):
        read = read_file(vocabulary(), path, kind, data)
        encoded = msgspec.msgpack.encode(read)
        assert msgspec.msgpack.decode(encoded, type=FileRead) == read
        assert "\n" not in read.facts.unreadable


def test_a_named_file_that_cannot_be_read_is_remembered(here: Path) -> None:
    write(here, {"old.py": "print 'x'\n", "notes.txt": "x"})
    assert needed(scanned("old.py", "notes.txt")) == ["notes.txt", "old.py"]


def needed(outcome: ScanOutcome) -> list[str]:
    return [file.path for file in outcome.report.files.unreadable if file.needed]


OLD = "print 'x'\n"
SCRIPT = "import random\n\nrandom.seed(1)\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"a.py": "import old\nold.run()\n"}, ["old.py"]),
        ({"a.py": "import b\nb.run()\n", "b.py": "from old import x\n"}, ["old.py"]),
        ({"run.sh": "python old.py\n"}, ["old.py"]),
        ({"run.sh": "python -m old\n"}, ["old.py"]),
        ({"d9m.toml": '[scan]\nentry-points = ["old.py"]\n', "a.py": ""}, ["old.py"]),
        ({"a.py": SCRIPT}, []),
        ({"run.sh": "python a.py\n", "a.py": SCRIPT}, []),
        ({"setup.py": ""}, ["old.py"]),
        ({"empty.ipynb": '{"cells": []}'}, ["old.py"]),
        ({"run.sh": "echo 1\n"}, ["old.py"]),
        ({"a.py": SCRIPT, "lib.py": "import old\n"}, ["old.py"]),
        (
            {"a.py": SCRIPT, "b.py": 'import importlib\nimportlib.import_module("old")\n'},
            ["old.py"],
        ),
        ({"a.py": SCRIPT, "run.sh": 'srun bash -c "python old.py"\n'}, ["old.py"]),
        ({"a.py": SCRIPT, "old.py": "import torch\ndef ("}, ["old.py"]),
        ({"a.py": SCRIPT, "old.py": 'if __name__ == "__main__":\n(' }, ["old.py"]),
        ({"a.py": SCRIPT, "old.py": "from jax import x\n(".encode("utf-16")}, ["old.py"]),
        ({"requirements.txt": "torch==2.4.1\n", "README.md": "text"}, ["old.py"]),
        ({}, ["old.py"]),
    ],
    ids=[
        "imported", "imported by an import", "started", "started as a module", "configured",
        "left over", "beside a job", "beside an empty file", "beside an empty notebook",
        "beside a job alone",
        "imported by a file that is no program", "imported by a name",
        "started in a shell", "names a framework", "has a main block",
        "names a framework in UTF-16", "beside versions alone", "alone",
    ],
)  # fmt: skip
def test_which_unread_files_an_answer_needs(
    here: Path, files: dict[str, str | bytes], found: list[str]
) -> None:
    write(here, {"old.py": OLD, **files})
    outcome = scanned()
    assert [file.path for file in outcome.report.files.unreadable] == ["old.py"]
    assert needed(outcome) == found


DECIDING = [
    "requirements.txt", "environment.yml", "uv.lock", "run.sh", ".env", "Dockerfile", "job.yaml",
    "Makefile", "Pipfile",
]  # fmt: skip
BROKEN: dict[str, Callable[[Path], object]] = {
    "not UTF-8": lambda path: path.write_bytes(b"a\xff"),
    "NUL": lambda path: path.write_bytes(b"a\0"),
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
}


@pytest.mark.parametrize("how", BROKEN)
def test_an_unread_file_that_decides_releases_or_variables_is_needed(here: Path, how: str) -> None:
    write(here, {"a.py": "print(1)\n"})
    for name in DECIDING:
        BROKEN[how](here / name)
    assert needed(scanned()) == sorted(DECIDING)
    assert needed(scanned("a.py")) == sorted(DECIDING)


UNPARSED = {
    "sub/pyproject.toml": "[project\n",
    "uv.lock": "[[package]]\nname =\n",
    "Pipfile": "[packages\n",
    "Pipfile.lock": "{",
    "setup.cfg": "[options\ninstall_requires = torch\n",
    "environment.yml": "dependencies:\n\t- pytorch=2.4.1\n",
    "conda.yaml": "dependencies: [pytorch=2.4.1]\n",
    "requirements.txt": "<<<<<<< HEAD\ntorch==2.4.1\n=======\n",
    "run.sh": "<<<<<<< HEAD\nexport A=1\n",
}


@pytest.mark.parametrize("name", UNPARSED)
def test_an_environment_or_job_file_that_does_not_parse_is_needed(here: Path, name: str) -> None:
    write(here, {"a.py": SCRIPT, name: UNPARSED[name]})
    assert needed(scanned()) == [name]


def test_a_named_file_is_counted_alone_with_what_it_reaches(here: Path) -> None:
    train = "import torch\nimport lib\ntorch.manual_seed(0)\nloss.backward()\n"
    write(here, {"a.py": train, "b.py": train, "lib.py": "x = 1\n", "c.py": "x = 1\n"})
    assert len(scanned().report.programs) == 2
    report = scanned("a.py").report
    assert [program.path for program in report.programs] == ["a.py"]
    assert report.files.read == 2


def test_a_file_that_the_walk_cannot_open_is_needed_by_what_imports_it(here: Path) -> None:
    write(here, {"a.py": "import gone\nimport pipe\ngone.run()\n"})
    (here / "gone.py").symlink_to("nowhere.py")
    os.mkfifo(here / "pipe.py")
    assert needed(scanned()) == ["gone.py", "pipe.py"]


def test_a_named_file_needs_what_its_own_programs_reach(here: Path) -> None:
    write(here, {"old.py": OLD, "a.py": "import old\nold.run()\n", "b.py": "print(1)\n"})
    assert needed(scanned("a.py")) == ["old.py"]
    assert scanned("b.py").report.files.unreadable == []


def test_several_processes_and_a_cache_change_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D9M_KB", str(compiled_kb()))
    write(here, {f"pkg/m{number}.py": IDLE for number in range(90)})
    write(here, {"run.sh": "export A=1\npython pkg/m1.py\n", "old.py": "print 'x'\n"})
    alone = scanned()
    assert scanned(jobs=3).report == alone.report
    assert scanned(cache=True).report == alone.report
    cached = here / ".d9m_cache" / "files"
    assert (here / ".d9m_cache" / ".gitignore").read_text() == "*\n"
    before = cached.stat().st_mtime_ns
    assert scanned(cache=True).report == alone.report
    assert cached.stat().st_mtime_ns == before
    write(here, {"pkg/m7.py": "x = 1\n"})
    assert len(scanned(cache=True, select=("unused-ignore",)).report.findings) == 89
    cached.write_bytes(b"damaged")
    assert len(scanned(cache=True, select=("unused-ignore",)).report.findings) == 89


def test_a_cache_answers_every_question_anew(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(here, {"a.py": IDLE, "b.py": IDLE, "d9m.toml": ""})
    whole = scanned(cache=True)
    assert scanned(cache=True, jobs=2) == whole
    assert len(whole.report.findings) == 2
    assert len(scanned("a.py", cache=True).report.findings) == 1
    assert not scanned(cache=True, ignore=("unused-ignore",)).report.findings
    write(here, {"d9m.toml": '[scan]\nignore = ["unused-ignore"]\n'})
    assert not scanned(cache=True).report.findings
    write(here, {"d9m.toml": ""})
    assert scanned(cache=True) == whole
    (here / "b.py").unlink()
    assert len(scanned(cache=True).report.findings) == 1
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    assert scanned("..", cache=True).report.root != whole.report.root


def test_a_file_that_changes_its_kind_is_read_anew(here: Path) -> None:
    write(here, {"job": "#!/bin/bash\nA=1 # d9m: ignore\n"})
    assert len(scanned(cache=True).report.findings) == 1
    write(here, {"job": "#!/usr/bin/env python\nA=1 # d9m: ignore\n"})
    assert len(scanned(cache=True).report.findings) == 1


def test_equal_bytes_whatever_the_hash_seed(here: Path) -> None:
    write(here, {f"m{number}.py": IDLE for number in range(5)})
    write(here, {"requirements.txt": "torch==2.4.1\n", "Dockerfile": "FROM ubuntu\nENV A=1 B=2\n"})
    outputs: set[bytes] = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [*COMMAND, "scan", "--no-cache", "--format", "json"],
            env=environment(PYTHONHASHSEED=seed),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1
        outputs.add(done.stdout)
    assert len(outputs) == 1
