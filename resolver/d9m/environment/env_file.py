"""Settings in a file: NAME=value lines, or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from d9m.errors import DataError, quote
from d9m.model.settings import PlainValue

_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_.]*)=(?P<value>.*)")


def read(text: str, file: str) -> dict[str, PlainValue]:
    """Every setting of a file by name; of JSON, nested keys are joined by dots
    (``determinism.tf_seed``).

    Raises DataError with line and column for what is neither.
    """
    text = text.removeprefix("\ufeff")
    return (
        dict(_flat("", _json(text, file))) if text.lstrip()[:1] == "{" else dict(_lines(text, file))
    )


def _lines(text: str, file: str) -> Iterator[tuple[str, str]]:
    """As a shell reads them: ``#`` comments, optional quotes and ``export``. A value without
    quotes may hold spaces, as in Docker's files.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            column = len(line) - len(line.lstrip()) + 1
            raise DataError(f"{file}:{number}:{column}: expected NAME=value, found {quote(line)}")
        place = f"{file}:{number}:{match.start('value') + 1}"
        yield match["name"], _value(match["value"], place)


def _value(written: str, place: str) -> str:
    """A value without its quotes and the comment behind it."""
    if written[:1] not in ("'", '"'):
        return _COMMENT.split(written, maxsplit=1)[0].rstrip()
    quoted = _QUOTED.match(written)
    if quoted is None:
        raise DataError(f"{place}: this quote is never closed: {quote(written)}")
    rest = written[quoted.end() :]
    if rest and _COMMENT.match(rest) is None:
        raise DataError(f"{place}: more text after the closing quote: {quote(rest)}")
    if quoted["single"] is not None:
        return quoted["single"]
    return _ESCAPE.sub(r"\1", quoted["double"])


_COMMENT = re.compile(r"(?:^|\s)#")
_QUOTED = re.compile(r"'(?P<single>[^']*)'" r'|"(?P<double>(?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r'\\([$`"\\])')
"""Characters that a backslash escapes between double quotes."""


def _json(text: str, file: str) -> dict[str, Any]:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{file}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except ValueError as error:  # a number with more digits than Python reads
        raise DataError(f"{file}:1:1: not a configuration: {error}") from None
    except RecursionError:
        raise DataError(f"{file}:1:1: not a configuration: nested too deep") from None


def _flat(prefix: str, tree: dict[str, Any]) -> Iterator[tuple[str, PlainValue]]:
    """Lists and nulls are not settings."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", cast(dict[str, Any], value))
        elif isinstance(value, (str, int, float, bool)):
            yield f"{prefix}{name}", value
