"""The JSON of version 1, for other programs."""

from __future__ import annotations

from typing import Any

import msgspec


def render(value: Any) -> str:
    """Any answer as indented JSON; field names are those of its type."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
