"""Notebooks as text: the code cells in their order, joined, with a table from lines to cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from d9m.files import UNREADABLE
from d9m.scan.jobs.notebook import read_magics
from d9m.scan.jobs.shell import Job, joined
from d9m.scan.source import UnreadableError, parse, with_deep_stack


class _Cell(msgspec.Struct, frozen=True):
    cell_type: str = ""
    source: str | list[str] = ""
    input: str | list[str] = ""
    """The name of the source in format 3."""


class _Sheet(msgspec.Struct, frozen=True):
    cells: list[_Cell] = []


class _Language(msgspec.Struct, frozen=True):
    name: str = "python"
    language: str = "python"


class _Metadata(msgspec.Struct, frozen=True):
    kernelspec: _Language | None = None
    language_info: _Language | None = None


class _NotebookFile(msgspec.Struct, frozen=True):
    cells: list[_Cell] | None = None
    worksheets: list[_Sheet] = []
    metadata: _Metadata = _Metadata()


class Notebook(msgspec.Struct, frozen=True):
    """The Python of a notebook."""

    text: str
    """The Python, with everything else blank, so that lines and columns stay."""
    cells: tuple[tuple[int, int], ...]
    """Number of each code cell among all cells, and the line before its first in `text`."""
    job: Job
    """The settings and launches of its magics."""


class NotANotebookError(Exception):
    """Why a file is not a notebook, as half a sentence."""


def read_notebook(data: bytes) -> Notebook:
    """Raises NotANotebookError."""
    try:
        file = msgspec.json.decode(data, type=_NotebookFile)
    except msgspec.ValidationError:
        raise NotANotebookError("it is JSON, but not a notebook") from None
    except UNREADABLE:
        raise NotANotebookError("it is not JSON, so not a notebook") from None
    if file.cells is None and not file.worksheets:
        raise NotANotebookError("it is JSON, but not a notebook")
    if not _is_python(file.metadata):
        return Notebook("", (), Job())
    every = list(file.cells or ())
    for sheet in file.worksheets:
        every += sheet.cells
    lines: list[str] = []
    cells: list[tuple[int, int]] = []
    jobs: list[Job] = []
    for number, cell in enumerate(every, start=1):
        if cell.cell_type == "code":
            source = cell.source or cell.input
            text = source if isinstance(source, str) else "".join(source)
            text = text.replace("\r\n", "\n").replace("\r", "\n")
            cells.append((number, len(lines)))
            jobs.append(read_magics(text, len(lines) + 1))
            lines += python_of(text.split("\n"))
    return Notebook("\n".join(lines), tuple(cells), joined(jobs))


def _is_python(metadata: _Metadata) -> bool:
    kernel, language = metadata.kernelspec, metadata.language_info
    said = (kernel.language if kernel else "", language.name if language else "")
    return all(word.lower() in ("", "python", "ipython", "sage") for word in said)


_PYTHON_CELLS = re.compile(
    r"%%(time|timeit|capture|prun|memit|mprun|lprun|heat|px|wandb|debug|python3?|scalene)\b.*"
)
_MAGIC = re.compile(r"(\s*)(?:[!?].*|%{1,2}\s*[A-Za-z_].*|[\w.]+\?{1,2}\s*)")
_PERCENT = re.compile(r"\s+%.*")
"""A magic, or the operator in the middle of an expression."""
_ASSIGNED = re.compile(r"([\w.,\s\[\]\"']+=\s*)[!%](?!=).*")


def python_of(lines: Sequence[str]) -> list[str]:
    """The lines of a cell with what is not Python blanked; ``pass`` keeps a block from being empty.

    >>> python_of(["%matplotlib inline", "if x:", "    !pip install torch", "files = !ls"])
    ['pass', 'if x:', '    pass', 'files = None']
    """
    opening = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines and lines[opening].startswith("%%"):
        if not _PYTHON_CELLS.fullmatch(lines[opening]):
            return [""] * len(lines)
        return [*([""] * (opening + 1)), *python_of(lines[opening + 1 :])]
    if any(map(_PERCENT.fullmatch, lines)) and _is_whole(lines):
        return [*lines]
    found: list[str] = []
    goes_on = False
    for line in lines:
        magic = _MAGIC.fullmatch(line)
        assigned = _ASSIGNED.fullmatch(line)
        if goes_on:
            found.append("")
        elif magic is not None:
            found.append(f"{magic[1]}pass")
        elif assigned is not None:
            found.append(f"{assigned[1]}None")
        else:
            found.append(line)
        goes_on = (goes_on or magic is not None) and line.endswith("\\")
    return found


def _is_whole(lines: Sequence[str]) -> bool:
    """Whether a cell is complete Python."""
    try:
        with_deep_stack(lambda: parse("\n".join(lines)))
    except UnreadableError:
        return False
    return True


def cell_of(cells: Sequence[tuple[int, int]], line: int) -> tuple[int, int]:
    """The cell that a line of the joined text belongs to, and the line in that cell."""
    number, before = 1, 0
    for cell, start in cells:
        if start < line:
            number, before = cell, start
    return number, line - before
