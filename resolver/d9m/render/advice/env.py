"""`eval "$(d9m advise --format env …)"`: the process settings for a POSIX shell."""

from __future__ import annotations

from d9m.model.advice import Advice
from d9m.render import words
from d9m.render.advice import blocks


def render(advice: Advice, command: str) -> str:
    lines = [
        f"# {words.stamp(advice, command)}",
        *blocks.shell(advice),
        *blocks.remarks(advice),
        *blocks.elsewhere(advice, ("install", "python", "flags", "config", "code", "avoid")),
    ]
    return "\n".join(lines) + "\n"
