"""One step as a line to copy."""

from __future__ import annotations

import shlex

import msgspec

from d9m.model.settings import Step
from d9m.resolve.merge import typed


def line(step: Step) -> str:
    """Return the text to type for a step."""
    if step.kind == "install":
        return f"pip install {step.text}"
    if step.kind == "config":
        return ": ".join(msgspec.json.encode(part).decode() for part in (step.name, typed(step)))
    if step.kind == "code":
        return f"{step.where or step.name}: {step.text or step.value}"
    if step.kind == "append":
        return "\n".join(_appended(step, item) for item in step.accepts)
    return shell(step) or step.text or step.name


def shell(step: Step) -> str | None:
    """A setting of the process for a POSIX shell; None for a step that lives elsewhere."""
    if step.kind == "unset":
        return f"unset {step.name}"
    if step.kind == "env":
        return f"export {step.name}={shlex.quote(step.value or '')}"
    if step.kind == "append":
        return _appended(step, step.value or "")
    return None


def _appended(step: Step, items: str) -> str:
    return (
        f'export {step.name}="${{{step.name}:+${step.name}{step.separator}}}"{shlex.quote(items)}'
    )
