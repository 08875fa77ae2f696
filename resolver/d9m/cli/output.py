"""Where an answer goes: stdout or a file, styled only on a terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from d9m.failures import UsageError, quote

if TYPE_CHECKING:
    from d9m.render.page import Page

COLOURS = ("auto", "always", "never")


def write(text: str, file: str | None) -> None:
    """Write to `file`, whole or not at all, or to stdout. Raises UsageError if that cannot be."""
    if file is None or file == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    path = Path(file)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            partial.write_text(text, encoding="utf-8")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {quote(file)}: {error.strerror}") from None


def styled(page: Page, colour: str, file: str | None) -> str:
    """The page as text: coloured where the reader is a terminal, never in a file."""
    return page.coloured() if file is None and wants_colour(colour) else page.plain()


def wants_colour(colour: str) -> bool:
    """`--color`, then NO_COLOR, then whether stdout is a terminal."""
    if colour == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return colour == "always"


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    """`value`, if it is allowed. Raises UsageError."""
    if value not in allowed:
        from d9m.failures import nearest

        raise UsageError(f"{option} {quote(value)} is unknown", nearest=nearest(value, allowed), allowed=allowed)
    return value
