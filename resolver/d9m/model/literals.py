"""Values in the text of a Python call, in the words that conditions use."""

from __future__ import annotations

import re

EXPRESSION = "?"
"""Begins a value that the text of a call does not say, such as ``?self.mode``."""

_QUOTED = re.compile(r"[a-zA-Z]{0,2}(['\"])(.*)\1", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "none"}
# Text, not compiled: few questions need them, and compiling is felt at the start.
_WHOLE = r"[-+]?\d{1,18}"
_NUMBER = r"(?i)[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?"
_PARTS = re.compile(r"""[^,()\[\]{}'"]+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|.""", re.DOTALL)


def value(text: str) -> str:
    """A Python text as conditions spell its value; an expression begins with `EXPRESSION`."""
    written = text.strip()
    if written in _WORDS:
        return _WORDS[written]
    if quoted := _QUOTED.fullmatch(written):
        return quoted[2].lower()
    if re.fullmatch(_WHOLE, written):
        return str(int(written))
    if re.fullmatch(_NUMBER, written):
        return str(float(written))
    if written[:1] in ("(", "[") and written[-1:] in (")", "]"):
        elements = [value(element) for element in split_parts(written[1:-1])]
        if not any(element.startswith(EXPRESSION) for element in elements):
            return ",".join(elements)
    return f"{EXPRESSION}{written}"


def split_parts(text: str) -> list[str]:
    """The parts between commas; those inside brackets and quotes do not count."""
    parts = [""]
    depth = 0
    for piece in _PARTS.findall(text):
        depth += (piece in "([{") - (piece in ")]}")
        if piece == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts if part.strip()]


def kind(text: str) -> str:
    """Return the kind of value that a Python text is: str, bool, none, int, number, sequence or
    expression.
    """
    written = text.strip()
    if _QUOTED.fullmatch(written):
        return "str"
    if written in _WORDS:
        return "none" if written == "None" else "bool"
    if re.fullmatch(_WHOLE, written):
        return "int"
    if re.fullmatch(_NUMBER, written):
        return "number"
    return "sequence" if written[:1] in ("(", "[") else "expression"
