"""What a scan hides, keeps, fixes and counts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d9m.errors import DataError, UsageError
from d9m.scan.baseline import read_baseline, render_baseline
from d9m.scan.file_kinds import Kind
from d9m.scan.fixes import fixed_files, write_fixed
from d9m.scan.ignores import find_ignores
from d9m.scan.read_file import FileRead, read_file
from d9m.scan.rules.catalogue import RULES
from d9m.scan.rules.rule import ScanRule
from d9m.scan.rules.upkeep import UNUSED_IGNORE
from d9m.scan.scanning import ScanRequest, configured, scan
from golden import knowledge_base
from process import COMMAND, compiled_kb, environment
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
    request = ScanRequest(cache=False, hints=True)
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
    files = fixed_files(outcome.walk.root, kinds, outcome.report.findings, unsafe)
    for file in files:
        write_fixed(outcome.walk.root, file)
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


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
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
    ways = [one.way_out for one in found]
    same = "and the same in line {}: their elements may belong together"
    assert ways == [f"sorted(os.listdir(root)), {same.format(line)}" for line in (5, 4)]
    assert fix() == []
    assert fix(unsafe=True) == ["a.py"]
    assert (here / "a.py").read_text().count("sorted(") == 2


def test_a_listing_whose_twin_is_sorted_is_fixed(here: Path) -> None:
    write(here, {"a.py": TWINS.format("sorted(os.listdir(root))")})
    assert fix() == ["a.py"]


def test_a_difference_as_patch_takes_it(here: Path) -> None:
    write(here, {"sub/a.py": IDLE.rstrip("\n"), "b.py": "x = 1\n"})
    outcome = scanned()
    files = fixed_files(str(here), dict(outcome.walk.files), outcome.report.findings, False)
    patch = "".join(file.diff() for file in files)
    assert "-a = 1  # d9m: ignore[order] it was once\n\\ No newline at end of file\n+a = 1" in patch
    done = subprocess.run(["git", "apply", "--check", "-"], input=patch, text=True, check=False)
    assert done.returncode == 0


def test_a_fix_that_cannot_be_written_is_an_error(here: Path) -> None:
    write(here, {"a.py": IDLE})
    outcome = scanned()
    file = fixed_files(str(here), dict(outcome.walk.files), outcome.report.findings, False)[0]
    with pytest.raises(UsageError, match=r"cannot write 'a\.py'"):
        write_fixed(str(here / "nowhere"), file)


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
    assert outcome.unread_names == ()


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
    assert scanned("old.py", "notes.txt").unread_names == ("notes.txt", "old.py")


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


def test_the_last_answer_is_kept_for_the_same_question_alone(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here, {"a.py": IDLE, "b.py": IDLE, "d9m.toml": ""})
    kept = here / ".d9m_cache" / "outcome"
    whole = scanned(cache=True)
    assert scanned(cache=True, jobs=2) == whole
    written = kept.stat().st_mtime_ns
    assert scanned(cache=True) == whole
    assert kept.stat().st_mtime_ns == written
    assert len(whole.report.findings) == 2
    assert len(scanned("a.py", cache=True).report.findings) == 1
    assert not scanned(cache=True, ignore=("unused-ignore",)).report.findings
    write(here, {"d9m.toml": '[scan]\nignore = ["unused-ignore"]\n'})
    assert not scanned(cache=True).report.findings
    write(here, {"d9m.toml": ""})
    assert scanned(cache=True) == whole
    (here / "b.py").unlink()
    assert len(scanned(cache=True).report.findings) == 1
    kept.write_bytes(kept.read_bytes()[:-9])
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


@pytest.mark.parametrize(
    ("configuration", "is_seeded"),
    [
        ("seed: 1\nset: !apply:torch.manual_seed [!ref <seed>]\n", False),
        ("seed: 1\nset: !apply:random.seed [!ref <seed>]\n", True),
        ("seed: 1\nset: !apply:lab.seeds.seed_all [!ref <seed>]\n", True),
        ("seed: 1\nset: !apply:lab.seeds.other [!ref <seed>]\n", False),
    ],
)
def test_a_configuration_can_seed(here: Path, configuration: str, is_seeded: bool) -> None:
    files: dict[str, str | bytes] = {
        "prepare.py": (
            'import os\nimport random\n\nfiles = os.listdir("data")\nrandom.shuffle(files)\n'
        ),
        "lab/seeds.py": "import random\n\ndef seed_all(seed):\n    random.seed(seed)\n",
        "hparams.yaml": configuration,
    }
    write(here, files)
    found = [one for one in scanned().report.findings if one.code == "unsorted-listing"]
    assert [("Nothing seeds" in one.message) for one in found] == [not is_seeded]
