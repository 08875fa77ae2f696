"""Lines for a Dockerfile."""

from __future__ import annotations

import json
from collections.abc import Iterator

from d9m.model.settings import Step
from d9m.render.advice import blocks
from d9m.render.interface import Answer, Rendered


def render(answer: Answer) -> Rendered:
    left = blocks.remaining(answer)
    lines = [
        blocks.stamp(answer),
        *_instructions(left),
        *blocks.remarks(left),
        *blocks.elsewhere(left, ("python", "flags", "config", "code", "avoid")),
    ]
    return Rendered("\n".join(lines) + "\n")


def _instructions(left: Answer) -> Iterator[str]:
    for step in left.advice.steps:
        line = _instruction(step)
        if line is not None:
            yield line if blocks.live(left.advice, step) else f"# {blocks.only(left, step)}: {line}"


def _instruction(step: Step) -> str | None:
    if step.kind == "install":
        return f"RUN pip install --no-cache-dir {step.text}"
    if step.kind == "env":
        return f"ENV {step.name}={json.dumps(step.value or '')}"
    if step.kind == "append":
        return f'ENV {step.name}="${{{step.name}:+${step.name}{step.separator}}}{step.value}"'
    if step.kind == "unset":
        return (
            f"# a Dockerfile cannot unset {step.name}: no ENV line here or in the base image "
            "may set it"
        )
    return None
