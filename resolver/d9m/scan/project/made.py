"""Where a program makes a setting, and whether that counts."""

from __future__ import annotations

import msgspec


class Made(msgspec.Struct, frozen=True):
    """A place that makes a setting."""

    value: str | None
    """As written; None where the text does not say it."""
    path: str
    line: int
    doubt: str = ""
    """Why it may not count, as half a sentence; empty where it certainly does."""
    is_given: bool = True
    """Whether some value is given; the call has no argument otherwise."""
    is_text: bool = True
    """Whether the value is the text itself, and not an expression of Python."""
    by: str = ""
    """The helper that makes it, as written."""
    warns: bool = False
    """A switch that only warns."""
