"""Environment and arguments for a Megatron launch line."""

from __future__ import annotations

from d9m.model.advice import Advice
from d9m.render import words
from d9m.render.advice import blocks


def render(advice: Advice, command: str) -> str:
    flags = [step.text or step.name for step in advice.steps if step.kind == "flags" and blocks.live(advice, step)]
    lines = [
        f"# {words.stamp(advice, command)}",
        *blocks.shell(advice),
        *blocks.remarks(advice),
        *blocks.elsewhere(advice, ("install", "python", "config", "code", "avoid")),
        f"DETERMINISTIC_ARGS=({' '.join(flags)})",
    ]
    return "\n".join(lines) + "\n"
