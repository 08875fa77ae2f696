"""A finding of the scan, and its place. Field names are those of the JSON."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Severity: TypeAlias = Literal["error", "missing", "place"]
"""An error is certain; what is missing belongs to the report card of a program; at a place order or
chance enters, and there is no verdict.
"""
Family: TypeAlias = Literal["settings", "seeds", "order", "ops", "files", "program"]


class Spot(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A piece of a file. Lines and columns count from 1, columns in characters; the end is the
    first column after it.
    """

    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0
    """Lines of a notebook count through all of its code cells; a finding names the cell."""


class RelatedSpot(msgspec.Struct, frozen=True):
    """Another place that has a part in a finding."""

    path: str
    line: int
    message: str
    column: int = 1
    cell: int | None = None


class Because(msgspec.Struct, frozen=True):
    """The record that a finding rests on."""

    record: str
    says: str
    fixed_in: dict[str, str] | None = None


class TextEdit(msgspec.Struct, frozen=True):
    """A change to the text of the file of the finding, from `start` until before `end`."""

    start: tuple[int, int]
    """Line and column, from 1."""
    end: tuple[int, int]
    text: str


class Fix(msgspec.Struct, frozen=True):
    safe: bool
    """Whether ``--fix`` makes it; otherwise only ``--fix --unsafe`` does."""
    title: str
    edits: list[TextEdit]


class ScanFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One finding. Findings are ordered by path, line, column and code."""

    code: str
    family: Family
    severity: Severity
    path: str
    """Relative to the root of the scan, with ``/``."""
    line: int
    column: int = 1
    end_line: int
    end_column: int = 1
    cell: int | None = None
    """Number of the cell among all cells of a notebook; `line` is then the line in that cell."""
    message: str
    """A sentence or two."""
    workaround: str = ""
    """The fix, in half a line; code ready to paste."""
    because: list[Because] = []
    related: list[RelatedSpot] = []
    fix: Fix | None = None
    fingerprint: str = ""
    """Stays the same when lines move."""
    help: str = ""
    """Page of the rule."""


def sort_key(finding: ScanFinding) -> tuple[str, int, int, int, str, str]:
    return (
        finding.path,
        finding.cell or 0,
        finding.line,
        finding.column,
        finding.code,
        finding.message,
    )
