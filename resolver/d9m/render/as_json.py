"""JSON for other programs."""

from __future__ import annotations

import json
from typing import Any

import msgspec


def render(value: Any) -> str:
    """Any answer as indented JSON; field names are those of its type.

    What a terminal would obey is escaped, which means the same to a parser.
    """
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
    if text.replace("\n", "").isprintable():
        return text
    return "".join(map(_escaped, text))


def _escaped(letter: str) -> str:
    return letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1]
