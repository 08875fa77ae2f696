"""Mark known findings with their page, fingerprint and cell."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from d9m import files
from d9m.errors import DataError
from d9m.scan.file_kinds import Kind
from d9m.scan.file_names import on_disk
from d9m.scan.finding import RelatedSpot, ScanFinding
from d9m.scan.notebooks import cell_of
from d9m.scan.read_file import text_of
from d9m.scan.source import UnreadableError

PAGES = "https://d9m.github.io/d9m/scan/"

Cells = Mapping[str, Sequence[tuple[int, int]]]
"""Path of a notebook -> its cells."""


def finished(
    root: str, kinds: Mapping[str, Kind], cells: Cells, findings: Sequence[ScanFinding]
) -> list[ScanFinding]:
    """The findings of a scan, in their order, with all that is shown of them."""
    lines: dict[str, list[str]] = {}
    seen: Counter[tuple[str, str, str]] = Counter()
    found: list[ScanFinding] = []
    for finding in findings:
        if finding.path not in lines:
            lines[finding.path] = _lines(root, finding.path, kinds.get(finding.path))
        statement = "".join(lines[finding.path][finding.line - 1 : finding.end_line])
        plain = re.sub(r"\s+", "", statement)
        same = (finding.code, finding.path, plain)
        digest = hashlib.sha256("\0".join((*same, str(seen[same]))).encode()).hexdigest()
        seen[same] += 1
        marked = msgspec.structs.replace(
            finding, fingerprint=digest[:32], help=f"{PAGES}{finding.code}/"
        )
        found.append(_in_cells(marked, cells))
    return found


def _lines(root: str, path: str, kind: Kind | None) -> list[str]:
    if kind is None:
        return []
    try:
        return text_of(kind, files.content(on_disk(root, path))).split("\n")
    except (OSError, DataError, UnreadableError):
        return []


def _in_cells(finding: ScanFinding, cells: Cells) -> ScanFinding:
    """A finding of a notebook with the lines of its cell; a notebook is never fixed."""
    related = [_related_in_cells(spot, cells) for spot in finding.related]
    if finding.path not in cells:
        return msgspec.structs.replace(finding, related=related) if related else finding
    cell, line = cell_of(cells[finding.path], finding.line)
    return msgspec.structs.replace(
        finding,
        cell=cell,
        line=line,
        end_line=line + finding.end_line - finding.line,
        related=related,
        fix=None,
    )


def _related_in_cells(spot: RelatedSpot, cells: Cells) -> RelatedSpot:
    if spot.path not in cells or spot.cell is not None:
        return spot
    cell, line = cell_of(cells[spot.path], spot.line)
    return msgspec.structs.replace(spot, cell=cell, line=line)
