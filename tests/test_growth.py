"""A text that is twice as long takes twice as long, whatever stands in it.

The tests measure time, which a busy machine stretches: they run at night.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import pytest

from d9m.browse import explain
from d9m.browse.known_texts import LONG, search
from d9m.environment import env_file, package_files
from d9m.errors import D9mError
from d9m.scan.file_kinds import Kind
from d9m.scan.jobs.read import LONGEST_LINE
from d9m.scan.read_file import read_file
from golden import knowledge_base
from growth import LINEAR, growth

sys.path.append(str(Path(__file__).with_name("scan")))

from projects import vocabulary

pytestmark = pytest.mark.nightly

ANYWHERE = (" ", "\n", "\t", "\r", "a", "1", "_", "é", "a.", "a-", "a1", "a::", "a ", "a=1 ", "=",
    "(", "{", "'", '"', "`", ",", "\\\n", "#", "${a:-", "\x1b[", "\x1b]", "İ")  # fmt: skip
COMPLAINTS = ("aa ", "torch version ", "x=1 ", "torch 2.4 and ", "1.0,", "`a` ", "without ", "no ",
    "different results. ", "RuntimeError: a\n", "CUBLAS_WORKSPACE_CONFIG ", "os.environ['A'] ",
    "index_add ", "np.", "environ[")  # fmt: skip
LISTS = ("a==1\n", "a==1 \\\n", "a>=1,", "a>1 ", "- a=1\n", "name = \"a\"\n", "RUN pip install a\n",
    "pip install a && ", "RUN a\\\n", "ARG a=$a$a\n", "[pip] a ", "--")  # fmt: skip
STARTS = ("", "torch ", "a==", "dependencies:\n- ", "FROM a\nRUN ", "[[package]]\n", "A=")


def _repeated(start: str, unit: str, size: int, end: str) -> str:
    return start + unit * (size // len(unit)) + end


@pytest.mark.parametrize("unit", ANYWHERE + COMPLAINTS)
def test_a_complaint(unit: str) -> None:
    kb = knowledge_base()

    def work(size: int) -> None:
        with contextlib.suppress(D9mError):
            explain.explain(kb, _repeated("torch", unit, size, "!"), None)

    work(1)
    assert growth(work, LONG // 10) < LINEAR


@pytest.mark.parametrize("fill", [" ", "\n", "x'"])
@pytest.mark.parametrize(
    "message",
    [
        "Backward is not reentrant, i.e.,{} running backward with same input",
        "torch deterministic mode is enabled,{} disabling NVLS",
        "Currently only {} attention backends",
        "Currently{} only",
        "scatter_reduce_cuda does not have a{} deterministic",
        "seed{} value",
    ],
)
def test_a_message_with_a_gap(message: str, fill: str) -> None:
    kb = knowledge_base()

    def work(size: int) -> None:
        search(kb, [message.replace("{}", fill * (size // len(fill)))])

    work(1)
    assert growth(work, LONG // 10) < LINEAR


@pytest.mark.parametrize("unit", ANYWHERE + LISTS)
def test_a_list_of_packages(unit: str) -> None:
    def work(size: int) -> None:
        for start in STARTS:
            with contextlib.suppress(D9mError):
                package_files.read(_repeated(start, unit, size, "x"), "file")

    assert growth(work, 200_000) < LINEAR


@pytest.mark.parametrize("unit", ANYWHERE)
def test_a_file_of_settings(unit: str) -> None:
    def work(size: int) -> None:
        with contextlib.suppress(D9mError):
            env_file.read(_repeated("A=", unit, size, "x"), "file")

    assert growth(work, 200_000) < LINEAR


NAMES: dict[Kind, str] = {
    "python": "a.py",
    "notebook": "a.ipynb",
    "shell": "a.sh",
    "dockerfile": "Dockerfile",
    "yaml": "a.yaml",
    "env": ".env",
    "makefile": "Makefile",
    "launch": "launch.json",
    "packages": "requirements.txt",
}
GAP = " " * (LONGEST_LINE - 100)
"""Blanks on a line that is read."""

LINES: list[tuple[Kind, str]] = [
    ("python", "a = b\na()\n"),
    ("python", "a = b\na = c\ndef f(): a()\n"),
    ("python", "for a in set(b): c(a)\n"),
    ("python", "a = {1, 2}\nb = list(a)\n"),
    ("python", "a = {b, c}\nd = list(a)\n"),
    ("python", "class A:\n  def f(self): self.a = {b, c}\n  def g(self): return list(self.a)\n"),
    ("python", "class A(A): pass\n"),
    ("python", "import torch as a\na.cumsum(0)\n"),
    ("notebook", "a = 1\n"),
    ("notebook", f"%env A=1{GAP}x\n"),
    ("notebook", f"{GAP}x\n"),
    ("notebook", " "),
    ("shell", "A=1\necho $A\n"),
    ("shell", "cat <<E\n"),
    ("dockerfile", "ENV A=$A:1\nRUN python a.py\n"),
    ("yaml", "run: |\n  \n"),
    ("yaml", "a: |\n" + " \n" * 7_000),
    ("yaml", f"- A=1{GAP}x\n"),
    ("env", f"A=1{GAP}x\n"),
    ("makefile", "A=1\n"),
    ("makefile", "A=1\\\n"),
    ("launch", f'"A": "{GAP}\n'),
    ("packages", f"a{GAP}x\n"),
    ("packages", "[[package]]\nname = 'a'\n"),
]


@pytest.mark.parametrize(("kind", "unit"), LINES)
def test_a_file_of_a_project(kind: Kind, unit: str) -> None:
    def work(size: int) -> None:
        text = _repeated("", unit, size, "") if size > 1 else ""
        data = json.dumps({"cells": [{"cell_type": "code", "source": text}]})
        read_file(vocabulary(), NAMES[kind], kind, (data if kind == "notebook" else text).encode())

    work(1)
    assert growth(work, 200_000) < LINEAR
