"""The order of Python lines: imports, what must precede them, statements."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from d9m.model.settings import Step


def imports(steps: Sequence[Step]) -> list[str]:
    """Import lines that the statements need, each once: first those of Python's own modules."""
    lines: set[str] = set()
    for step in steps:
        if not step.before_import:
            lines.update(step.imports)
    return sorted(lines, key=lambda line: (not is_own(module(line)), module(line)))


def module(line: str) -> str:
    """Return the module that a line imports: ``torch.utils.deterministic``."""
    return line.split()[1]


def is_own(name: str) -> bool:
    """Whether Python brings a module along."""
    return name.partition(".")[0] in sys.stdlib_module_names


def program_steps(steps: Sequence[Step]) -> list[Step]:
    """Python steps in the order in which they run."""
    return sorted(
        (step for step in steps if step.kind == "python"), key=lambda step: not step.before_import
    )
