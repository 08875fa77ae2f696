"""The text of a file, and how its places count."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import threading
import tokenize
from collections.abc import Callable
from typing import TypeVar

from d9m.scan.finding import Spot

_LINE_END = re.compile(r"\r\n|\r|\n")


class UnreadableError(Exception):
    """Why a file is not Python that can be read, as half a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


_NO_ENCODING = "it is not in UTF-8, nor in the encoding that it names"


def encoding_of(data: bytes) -> str:
    """Return the encoding of a Python file, as it names it. Raises UnreadableError."""
    try:
        encoding, _lines = tokenize.detect_encoding(io.BytesIO(data).readline)
    except (SyntaxError, LookupError):
        raise UnreadableError(_NO_ENCODING) from None
    return encoding.removesuffix("-sig")


def decode(data: bytes) -> str:
    """The text of a Python file, with ``\\n`` alone at the end of lines. Raises UnreadableError."""
    if b"\0" in data:
        raise UnreadableError("it holds NUL bytes")
    try:
        text = data.decode(encoding_of(data))
    except (UnicodeError, LookupError):
        raise UnreadableError(_NO_ENCODING) from None
    text = text.removeprefix("\ufeff")
    return _LINE_END.sub("\n", text) if "\r" in text else text


_ADVICE = re.compile(r"[.;] ")
"""After it Python says what to do."""


def parse(text: str) -> ast.Module:
    """The tree of a text. Raises UnreadableError; RecursionError for one that may need
    `with_deep_stack`.
    """
    try:
        return ast.parse(text)
    except SyntaxError as error:
        said = f"{_ADVICE.split(error.msg)[0]} (line {error.lineno or 1})"
        raise UnreadableError(f"it is not valid Python 3: {said}") from None
    except (MemoryError, ValueError):
        raise UnreadableError(_TOO_DEEP) from None


_TOO_DEEP = "it is nested too deeply"
_STACK = 1 << 29
"""Bytes of a stack for deep trees; only what is used of it takes memory."""
_DEPTH = 100_000

_Result = TypeVar("_Result")


def with_deep_stack(read: Callable[[], _Result]) -> _Result:
    """Call a reader of a tree, again on a large stack if the tree is deep. Raises UnreadableError
    for a tree that is deeper still.
    """
    with contextlib.suppress(RecursionError):
        return read()
    found: list[_Result] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            found.append(read())
        except BaseException as error:
            raised.append(error)

    usual_depth, usual_stack = sys.getrecursionlimit(), threading.stack_size()
    try:
        threading.stack_size(_STACK)
        sys.setrecursionlimit(_DEPTH)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    except (RuntimeError, ValueError):
        raise UnreadableError(_TOO_DEEP) from None
    finally:
        threading.stack_size(usual_stack)
        sys.setrecursionlimit(usual_depth)
    if raised and not isinstance(raised[0], RecursionError):
        raise raised[0]
    if not found:
        raise UnreadableError(_TOO_DEEP)
    return found[0]


class Lines:
    """The places of the nodes of a tree, in characters."""

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
