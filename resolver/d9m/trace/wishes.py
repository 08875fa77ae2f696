"""What a person types for steps and sizes."""

from __future__ import annotations

import re

from d9m.errors import UsageError, quote

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def read_steps(text: str | None) -> tuple[int, int | None, int | None]:
    """First and last step to record, both included, and the number of steps after which the
    program is ended. Raises UsageError.
    """
    if text is None or text == "all":
        return 0, None, None
    if re.fullmatch(r"\d{1,9}", text, re.ASCII) and int(text) > 0:
        return 0, None, int(text)
    found = re.fullmatch(r"(\d{0,9}):(\d{0,9})", text, re.ASCII)
    if found is None:
        raise UsageError(
            f"--steps {quote(text)} is not understood",
            allowed=["20 (end the program after 20 steps)", "3:5", ":5", "3:", "all"],
        )
    first, last = int(found[1] or 0), int(found[2]) if found[2] else None
    if last is not None and last < first:
        raise UsageError(f"--steps {text}: the last step comes before the first")
    return first, last, None


def read_size(text: str) -> int:
    """Bytes. Raises UsageError."""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d+)?) ?([KMGT]?B?)", text.upper(), re.ASCII)
    unit = found[2] if found else ""
    if unit and not unit.endswith("B"):
        unit += "B"
    if found is None or not float(found[1]):
        raise UsageError(f"--max-size {quote(text)} is not a size", tip="for example: 500MB, 2GB")
    return int(float(found[1]) * UNITS[unit])
