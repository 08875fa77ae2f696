"""The part of a Clara Train configuration that makes a job repeatable: plain JSON."""

from __future__ import annotations

import json
from typing import Any

from d9m.advice import Advice
from d9m.settle import typed


def render(advice: Advice, command: str) -> str:
    """JSON has no comments, so the stamp that other blocks carry has no place here."""
    tree: dict[str, Any] = {}
    for step in advice.steps:
        if step.kind == "config":
            *parents, leaf = step.name.split(".")
            branch = tree
            for parent in parents:
                branch = branch.setdefault(parent, {})
            branch[leaf] = typed(step)
    return json.dumps(tree, indent=2) + "\n"
