"""The part of a Clara Train configuration that makes a job repeatable: plain JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from d9m.errors import UsageError
from d9m.model.advice import Advice
from d9m.render.advice import blocks
from d9m.resolve.merge import typed


def render(advice: Advice, command: str) -> str:
    """JSON has no comments, so the stamp that other blocks carry has no place here.

    Raises UsageError where nothing belongs into such a configuration: an empty
    one would look as if nothing were needed.
    """
    tree: dict[str, Any] = {}
    for step in advice.steps:
        if step.kind == "config":
            *parents, leaf = step.name.split(".")
            branch = tree
            for parent in parents:
                branch = branch.setdefault(parent, {})
            branch[leaf] = typed(step)
    if not tree:
        raise UsageError(
            "nothing of this advice belongs into a Clara Train configuration",
            tip="name the image or release that reads one; other formats: --format env|python|json",
        )
    return json.dumps(tree, indent=2) + "\n"


def outside(advice: Advice) -> Iterator[str]:
    """What is advised, and has no place in the configuration."""
    yield from blocks.shell(advice)
    yield from blocks.remarks(advice)
    yield from blocks.elsewhere(advice, ("install", "python", "flags", "code", "avoid"))
