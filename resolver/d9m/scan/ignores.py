"""Comments that hide findings: ``# d9m: ignore[CODE] reason``, ``# d9m: ignore-file[CODE]``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

import msgspec

from d9m.scan.file_kinds import Kind


class Ignore(msgspec.Struct, frozen=True, array_like=True):
    """One comment."""

    line: int
    column: int
    codes: tuple[str, ...]
    """Codes and families; empty: all."""
    reason: str
    whole_file: bool
    alone: bool
    """Whether its line holds nothing else: then it applies to the next one."""
    end_column: int
    blanks: int = 0
    """White space right before it."""

    def covers(self, first: int, last: int) -> bool:
        """Whether it is in one of these lines, or alone right above them."""
        return (
            self.whole_file or first <= self.line <= last or (self.alone and self.line == first - 1)
        )


_COMMENT = re.compile(
    r"#\s*d9m:\s*(?P<word>ignore(?:-file)?)\b(?:\[(?P<codes>[^\]]*)\])?(?P<reason>[^#]*)"
)


def find_ignores(kind: Kind, text: str) -> tuple[Ignore, ...]:
    """The comments of a file, in order. Python is only tokenised where the words occur at all."""
    if "d9m:" not in text:
        return ()
    if kind in ("python", "notebook"):
        return tuple(_in_python(text))
    return tuple(_in_lines(text))


def _in_lines(text: str) -> Iterator[Ignore]:
    for number, line in enumerate(text.split("\n"), start=1):
        match = _COMMENT.search(line)
        if match is not None:
            yield _ignore(match, number, line[: match.start()])


def _in_python(text: str) -> Iterator[Ignore]:
    """Comments only: the same words in a string are text."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            match = _COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
            if match is not None:
                line, column = token.start
                yield _ignore(match, line, token.line[:column])
    except (tokenize.TokenError, SyntaxError):
        return


def _ignore(match: re.Match[str], line: int, before: str) -> Ignore:
    codes = tuple(code.strip() for code in (match["codes"] or "").split(",") if code.strip())
    column = len(before) + 1
    return Ignore(
        line,
        column,
        codes,
        match["reason"].strip(),
        whole_file=match["word"] == "ignore-file",
        alone=not before.strip(),
        end_column=column + len(match[0].rstrip()),
        blanks=len(before) - len(before.rstrip()),
    )
