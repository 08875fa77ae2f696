"""Environment and arguments for a Megatron launch line."""

from __future__ import annotations

from d9m.render.advice import blocks
from d9m.render.interface import Answer, Rendered


def render(answer: Answer) -> Rendered:
    left = blocks.remaining(answer)
    flags: list[str] = []
    for step in left.advice.steps:
        if step.kind == "flags" and blocks.live(left.advice, step):
            flags.append(step.text or step.name)
    lines = [
        blocks.stamp(answer),
        *blocks.shell(left),
        *blocks.remarks(left),
        *blocks.elsewhere(left, ("install", "python", "config", "code", "avoid")),
        f"DETERMINISTIC_ARGS=({' '.join(flags)})",
    ]
    return Rendered("\n".join(lines) + "\n")
