"""Lines for a Dockerfile."""

from __future__ import annotations

import json
from collections.abc import Iterator

from d9m.model.advice import Advice
from d9m.model.settings import Step
from d9m.render import words
from d9m.render.advice import blocks


def render(advice: Advice, command: str) -> str:
    lines = [
        f"# {words.stamp(advice, command)}",
        *_instructions(advice),
        *blocks.remarks(advice),
        *blocks.elsewhere(advice, ("python", "flags", "config", "code", "avoid")),
    ]
    return "\n".join(lines) + "\n"


def _instructions(advice: Advice) -> Iterator[str]:
    for step in advice.steps:
        line = _instruction(step)
        if line is not None:
            yield line if blocks.live(advice, step) else f"# only if {words.clauses(step.when or [])}: {line}"


def _instruction(step: Step) -> str | None:
    if step.kind == "install":
        return f"RUN pip install --no-cache-dir {step.text}"
    if step.kind == "env":
        return f"ENV {step.name}={json.dumps(step.value or '')}"
    if step.kind == "append":
        return f'ENV {step.name}="${{{step.name}:+${step.name}{step.separator}}}{step.value}"'
    if step.kind == "unset":
        return f"# a Dockerfile cannot unset {step.name}: no ENV line here or in the base image may set it"
    return None
