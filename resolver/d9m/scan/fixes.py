"""Fixes as edits of text: applied to files, or shown as a difference."""

from __future__ import annotations

import difflib
import io
import os
import re
import warnings
from collections.abc import Iterable, Sequence

import msgspec

from d9m import files
from d9m.errors import DataError
from d9m.scan.file_kinds import Kind
from d9m.scan.file_names import on_disk
from d9m.scan.finding import ScanFinding, TextEdit
from d9m.scan.source import UnreadableError, decode, encoding_of, parse, with_deep_stack


class FixedFile(msgspec.Struct, frozen=True):
    """A file with the fixes of its findings."""

    path: str
    before: bytes
    after: bytes
    count: int

    def diff(self, root: str) -> bytes:
        """Return the difference as ``patch -p1`` and ``git apply`` take it, byte for byte."""
        name = os.fsencode(os.path.relpath(on_disk(root, self.path), root))
        lines = difflib.diff_bytes(
            difflib.unified_diff,
            _lines(self.before),
            _lines(self.after),
            _patch_name(b"a/" + name),
            _patch_name(b"b/" + name),
        )
        return b"".join(map(_whole_line, lines))


class RefusedFix(msgspec.Struct, frozen=True):
    """A file whose fixes are not made."""

    path: str
    why: str


def _lines(data: bytes) -> list[bytes]:
    """Return lines as patches count them: only a line feed ends one."""
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _patch_name(name: bytes) -> bytes:
    """Return a name as git writes it in a patch: quoted if needed; a tab ends one with spaces."""
    if re.search(rb'[\x00-\x1f"\\\x7f]', name):
        return b'"' + re.sub(rb'[\x00-\x1f"\\\x7f-\xff]', _escaped, name) + b'"'
    return name + b"\t" if b" " in name else name


def _escaped(match: re.Match[bytes]) -> bytes:
    return b"\\" + match[0] if match[0] in b'"\\' else b"\\%03o" % match[0][0]


def _whole_line(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


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
) -> tuple[list[FixedFile], list[RefusedFix]]:
    """Return the files as they are with their fixes, and those that cannot be fixed. Of fixes that
    overlap only the first is made.
    """
    by_path: dict[str, list[ScanFinding]] = {}
    for finding in applicable(findings, unsafe):
        by_path.setdefault(finding.path, []).append(finding)
    fixed: list[FixedFile] = []
    refused: list[RefusedFix] = []
    for path, here in sorted(by_path.items()):
        groups = [finding.fix.edits for finding in here if finding.fix]
        try:
            file = _fixed(root, path, kinds.get(path) == "python", groups)
        except _RefusedError as error:
            refused.append(RefusedFix(path, str(error)))
            continue
        if file.after != file.before:
            fixed.append(file)
    return fixed, refused


class _RefusedError(Exception):
    """Why a file is not fixed, as half a sentence."""


def _fixed(
    root: str, path: str, is_python: bool, groups: Sequence[Sequence[TextEdit]]
) -> FixedFile:
    full = on_disk(root, path)
    if os.path.realpath(full) != os.path.normpath(full):
        raise _RefusedError("it is reached through a symbolic link; name the file itself")
    try:
        before = files.content(full)
        coding = encoding_of(before) if is_python else "utf-8"
        text = before.decode(coding)
    except UnicodeError:
        raise _RefusedError("it is not in UTF-8") from None
    except (OSError, DataError, UnreadableError) as error:
        raise _RefusedError(f"it cannot be read: {error}") from None
    after, count = _edited(text, groups)
    encoded = _encoded(after, coding)
    if encoded is None or _encoded(text, coding) != before:
        raise _RefusedError(f"its coding, {coding}, cannot hold the fixed text; fix it by hand")
    if is_python and not _parses(encoded):
        raise _RefusedError("the fixed text would not be valid Python; fix it by hand")
    return FixedFile(path, before, encoded, count)


def _encoded(text: str, coding: str) -> bytes | None:
    """Return the bytes of a text; None where they would not be read as the same text."""
    try:
        data = text.encode(coding)
        return data if data.decode(coding) == text else None
    except UnicodeError:
        return None


def _parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with_deep_stack(lambda: parse(decode(data)))
    except UnreadableError:
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


def write_fixed(root: str, file: FixedFile) -> RefusedFix | None:
    """Write the fixed text into a file, whole or not at all, or say why not. The file stays the
    same one: with its links, its owner, its mode and its attributes.
    """
    path = on_disk(root, file.path)
    try:
        if not os.stat(path).st_mode & 0o222:
            return RefusedFix(file.path, "it is read-only")
        with open(path, "r+b", buffering=0) as opened:
            try:
                _overwrite(opened, file.after)
            except BaseException:
                _overwrite(opened, file.before)
                raise
    except OSError as error:
        return RefusedFix(file.path, f"it cannot be written: {error.strerror or error}")
    return None


def _overwrite(opened: io.FileIO, data: bytes) -> None:
    opened.seek(0)
    left = memoryview(data)
    while left:
        left = left[opened.write(left) :]
    opened.truncate()
