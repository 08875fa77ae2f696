"""The part of a Clara Train configuration that makes a job repeatable: plain JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from d9m.errors import UsageError
from d9m.render.advice import blocks
from d9m.render.interface import Answer, Rendered
from d9m.resolve.merge import typed


def render(answer: Answer) -> Rendered:
    """JSON has no comments, so the stamp that other blocks carry has no place here.

    Raises UsageError where nothing belongs into such a configuration: an empty
    one would look as if nothing were needed.
    """
    left = blocks.remaining(answer)
    tree: dict[str, Any] = {}
    for step in left.advice.steps:
        if step.kind == "config":
            *parents, leaf = step.name.split(".")
            branch = tree
            for parent in parents:
                branch = branch.setdefault(parent, {})
            branch[leaf] = typed(step)
    if not tree:
        raise UsageError(
            "nothing of this advice belongs in a Clara Train configuration",
            tip="name a release of Clara Train, or take --format env|python|json",
        )
    return Rendered(json.dumps(tree, indent=2) + "\n", tuple(_outside(left)))


def _outside(left: Answer) -> Iterator[str]:
    """Return the advice that has no place in the configuration."""
    yield from blocks.shell(left)
    yield from blocks.remarks(left)
    yield from blocks.elsewhere(left, ("install", "python", "flags", "code", "avoid"))
