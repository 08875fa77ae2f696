"""The order of Python lines: imports, what must precede them, statements."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.model.settings import Step


def imports(steps: Sequence[Step]) -> list[str]:
    """Import lines that the statements need, each once."""
    lines: dict[str, None] = {}
    for step in steps:
        if not step.before_import:
            lines.update(dict.fromkeys(step.imports))
    return list(lines)


def program_steps(steps: Sequence[Step]) -> list[Step]:
    """Python steps in the order in which they run."""
    return sorted(
        (step for step in steps if step.kind == "python"), key=lambda step: not step.before_import
    )
