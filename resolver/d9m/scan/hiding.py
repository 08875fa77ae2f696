"""Findings that comments hide, and comments that hide nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from d9m.errors import nearest
from d9m.scan.finding import Fix, ScanFinding, TextEdit
from d9m.scan.ignores import Ignore
from d9m.scan.result import Suppressed
from d9m.scan.rules.upkeep import UNUSED_IGNORE
from d9m.scan.selection import CODES, FAMILIES, names


class Hidden(msgspec.Struct, frozen=True):
    kept: list[ScanFinding]
    hidden: list[Suppressed]


def hide(findings: Sequence[ScanFinding], comments: Mapping[str, Sequence[Ignore]]) -> Hidden:
    """Apply the comments of all files; a faulty comment is a finding too."""
    kept: list[ScanFinding] = []
    hidden: list[Suppressed] = []
    used: set[tuple[str, Ignore, str]] = set()
    for finding in findings:
        by = _hiding(finding, comments.get(finding.path, ()))
        if by is None:
            kept.append(finding)
            continue
        comment, word = by
        used.add((finding.path, comment, word))
        hidden.append(Suppressed(finding, "comment", comment.reason))
    for path, here in comments.items():
        for comment in here:
            kept += _faults(path, comment, used)
    return Hidden(kept, hidden)


def _hiding(finding: ScanFinding, comments: Sequence[Ignore]) -> tuple[Ignore, str] | None:
    """The comment that hides a finding, and the code or family in it that does."""
    for comment in comments:
        if comment.covers(finding.line, finding.end_line):
            if not comment.codes:
                return comment, ""
            for word in comment.codes:
                if names((word,), finding):
                    return comment, word
    return None


def _faults(path: str, comment: Ignore, used: set[tuple[str, Ignore, str]]) -> list[ScanFinding]:
    unknown: list[str] = []
    idle: list[str] = []
    for word in comment.codes or ("",):
        if word and word not in CODES and word not in FAMILIES:
            unknown.append(word)
        elif (path, comment, word) not in used:
            idle.append(word)
    found: list[ScanFinding] = []
    for word in unknown:
        near = nearest(word, (*CODES, *FAMILIES), most=1)
        meant = f"; did you mean {near[0]}?" if near else "."
        message = f"No rule or family is called {word}{meant}"
        found.append(_finding(path, comment, message, "d9m list rules", None))
    if not comment.codes and not idle:
        message = "This comment hides whatever comes; name the codes that it is for."
        found.append(_finding(path, comment, message, "# d9m: ignore[CODE] reason", None))
    if idle:
        what = ", ".join(idle) if comment.codes else "anything"
        whole = len(idle) == len(comment.codes or ("",))
        fix = _removal(comment) if whole else None
        message = f"This comment hides nothing: {what} finds nothing here."
        if not comment.codes:
            message = "This comment hides nothing: no rule finds anything here."
        found.append(_finding(path, comment, message, "remove it", fix))
    return found


def _removal(comment: Ignore) -> Fix:
    """The comment goes with the white space before it, or with its whole line."""
    start = (comment.line, 1 if comment.alone else comment.column - comment.blanks)
    end = (comment.line + 1, 1) if comment.alone else (comment.line, comment.end_column)
    return Fix(True, "Remove the comment", [TextEdit(start, end, "")])


def _finding(
    path: str, comment: Ignore, message: str, workaround: str, fix: Fix | None
) -> ScanFinding:
    return ScanFinding(
        code=UNUSED_IGNORE.code,
        family=UNUSED_IGNORE.family,
        severity=UNUSED_IGNORE.severity,
        path=path,
        line=comment.line,
        column=comment.column,
        end_line=comment.line,
        end_column=comment.end_column,
        message=message,
        workaround=workaround,
        fix=fix,
    )
