"""`eval "$(d9m advise --format env …)"`: the process settings for a POSIX shell."""

from __future__ import annotations

from d9m.render.advice import blocks
from d9m.render.interface import Answer, Rendered


def render(answer: Answer) -> Rendered:
    return Rendered(block(answer))


def block(answer: Answer) -> str:
    left = blocks.remaining(answer)
    lines = [
        blocks.stamp(answer),
        *blocks.shell(left),
        *blocks.remarks(left),
        *blocks.elsewhere(left, ("install", "python", "flags", "config", "code", "avoid")),
    ]
    return "\n".join(lines) + "\n"
