"""The text of a file, and how its places count."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from d9m.scan.finding import Spot

_LINE_END = re.compile(r"\r\n|\r|\n")


class UnreadableError(Exception):
    """Why a file is not Python that can be read, as half a sentence."""

    def __init__(self, why: str, line: int = 1) -> None:
        super().__init__(why)
        self.why = why
        self.line = line


def decode(data: bytes) -> str:
    """The text of a Python file, with ``\\n`` alone at the end of lines. Raises UnreadableError."""
    if b"\0" in data:
        raise UnreadableError("it holds NUL bytes")
    try:
        encoding, _lines = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        raise UnreadableError("it is not in UTF-8, nor in the encoding that it names") from None
    text = text.removeprefix("\ufeff")
    return _LINE_END.sub("\n", text) if "\r" in text else text


_ADVICE = re.compile(r"[.;] ")
"""After it Python says what to do."""


def parse(text: str) -> ast.Module:
    """The tree of a text. Raises UnreadableError."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        said = _ADVICE.split(error.msg)[0]
        raise UnreadableError(f"it is not valid Python 3: {said}", error.lineno or 1) from None
    except (RecursionError, MemoryError, ValueError):
        raise UnreadableError("it is nested too deeply") from None


class Lines:
    """Where the nodes of a tree stand, in characters."""

    def __init__(self, text: str) -> None:
        self._lines = None if text.isascii() else text.split("\n")

    def column(self, line: int, offset: int) -> int:
        """The column, from 1, of a byte of a line in UTF-8."""
        if self._lines is None:
            return offset + 1
        encoded = self._lines[line - 1].encode()[:offset]
        return len(encoded.decode(errors="replace")) + 1

    def spot(self, node: ast.expr | ast.stmt) -> Spot:
        end = node.end_lineno or node.lineno
        return Spot(
            node.lineno,
            self.column(node.lineno, node.col_offset),
            end,
            self.column(end, node.end_col_offset or 0),
        )
