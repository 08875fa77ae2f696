"""Fixes as edits of text: applied to files, or shown as a difference."""

from __future__ import annotations

import ast
import difflib
import os
import re
import warnings
from collections.abc import Iterable, Sequence

import msgspec

from d9m import files
from d9m.errors import DataError, UsageError, quote
from d9m.scan.file_kinds import Kind
from d9m.scan.finding import ScanFinding, TextEdit


class FixedFile(msgspec.Struct, frozen=True):
    """A file with the fixes of its findings."""

    path: str
    before: str
    after: str
    count: int

    def diff(self) -> str:
        """The difference as ``patch`` takes it."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{self.path}",
            f"b/{self.path}",
        )
        return "".join(map(_whole_line, lines))


def _whole_line(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def applicable(findings: Iterable[ScanFinding], unsafe: bool) -> list[ScanFinding]:
    """The findings whose fix ``--fix`` makes; with `unsafe` every one that has a fix."""
    found: list[ScanFinding] = []
    for finding in findings:
        fix = finding.fix
        if fix is not None and fix.edits and (fix.safe or unsafe):
            found.append(finding)
    return found


def fixed_files(
    root: str, kinds: dict[str, Kind], findings: Iterable[ScanFinding], unsafe: bool
) -> list[FixedFile]:
    """The files as they are with their fixes. Of fixes that overlap only the first is made."""
    by_path: dict[str, list[ScanFinding]] = {}
    for finding in applicable(findings, unsafe):
        by_path.setdefault(finding.path, []).append(finding)
    found: list[FixedFile] = []
    for path, here in sorted(by_path.items()):
        before = _text(os.path.join(root, path))
        if before is None:
            continue
        after, count = _edited(before, [finding.fix.edits for finding in here if finding.fix])
        if after != before and (kinds.get(path) != "python" or _parses(after)):
            found.append(FixedFile(path, before, after, count))
    return found


def _text(file: str) -> str | None:
    """A file as it is, with its own ends of lines; None for one that is not in UTF-8."""
    try:
        return files.content(file).decode("utf-8")
    except (OSError, DataError, UnicodeDecodeError):
        return None


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _edited(text: str, groups: Sequence[Sequence[TextEdit]]) -> tuple[str, int]:
    """A text with groups of edits, and how many groups were made."""
    starts = _line_starts(text)
    taken: list[tuple[int, int]] = []
    chosen: dict[tuple[int, int], str] = {}
    count = 0
    for edits in groups:
        texts: dict[tuple[int, int], str] = {}
        for edit in edits:
            start, end = _offset(starts, text, edit.start), _offset(starts, text, edit.end)
            texts[start, end] = edit.text
        if all(chosen.get(place) == wanted for place, wanted in texts.items()):
            continue
        if any(_overlap(place, other) for place in texts for other in taken):
            continue
        count += 1
        taken += texts
        chosen.update(texts)
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    for (start, end), new in sorted(chosen.items(), reverse=True):
        text = text[:start] + new.replace("\n", end_of_line) + text[end:]
    return text, count


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one == other or (one[0] < other[1] and other[0] < one[1])


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]


def _offset(starts: Sequence[int], text: str, place: tuple[int, int]) -> int:
    line, column = place
    if line > len(starts):
        return len(text)
    first = starts[line - 1]
    bom = 1 if line == 1 and text.startswith("\ufeff") else 0
    return min(first + bom + column - 1, len(text))


def write_fixed(root: str, file: FixedFile) -> None:
    """Replace a file by its fixed text, whole or not at all. Raises UsageError."""
    path = os.path.join(root, file.path)
    partial = f"{path}.{os.getpid()}.d9m"
    try:
        with open(partial, "w", encoding="utf-8", newline="") as opened:
            opened.write(file.after)
        os.chmod(partial, os.stat(path).st_mode & 0o7777)
        os.replace(partial, path)
    except OSError as error:
        raise UsageError(f"cannot write {quote(file.path)}: {error.strerror or error}") from None
    finally:
        if os.path.exists(partial):
            os.unlink(partial)
