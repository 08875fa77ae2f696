"""A block for the top of a program, which fails loudly where it comes too late."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.model.settings import Step
from d9m.render.advice import blocks
from d9m.render.advice.program import imports, program_steps
from d9m.render.interface import Answer, Rendered


def render(answer: Answer) -> Rendered:
    return Rendered(block(answer))


def block(answer: Answer) -> str:
    left = blocks.remaining(answer)
    early = [step for step in left.advice.steps if step.kind in ("env", "append", "unset")]
    before_start = [step for step in early if step.read_at == "process-start"]
    settable = [step for step in early if step.read_at != "process-start"]
    program = program_steps(left.advice.steps)
    first = [step for step in program if step.before_import]
    lines = [
        blocks.stamp(answer),
        *blocks.remarks(left),
        *blocks.elsewhere(left, ("install", "flags", "config", "code", "avoid")),
    ]
    if before_start or settable or first:
        lines += ["import os", "import sys", ""]
    lines += _required(left, before_start)
    if settable or first:
        lines += _guard(answer.frameworks)
    for step in settable:
        lines += _commented(left, step, _assignment(step))
    if settable:
        lines.append("")
    for step in first:
        lines += _commented(left, step, [*step.imports, *_statement(step)])
    lines += imports([step for step in program if blocks.live(left.advice, step)])
    for step in program:
        if step not in first:
            needed = [] if blocks.live(left.advice, step) else step.imports
            lines += _commented(left, step, [*needed, *_statement(step)])
    return "\n".join(lines).rstrip() + "\n"


def _required(left: Answer, steps: list[Step]) -> Iterator[str]:
    """Variables that only the shell can set: the block checks them."""
    for step in steps:
        value = step.value or ""
        wrong = f"os.environ.get({step.name!r}) != {value!r}"
        if step.any_value:
            wrong = f"os.environ.get({step.name!r}) in {('', *step.refuses, None)!r}"
        message = f"set {step.name}={value} before Python starts: inside the process it is too late"
        if step.kind == "unset":
            wrong, message = (
                f"{step.name!r} in os.environ",
                f"unset {step.name} before Python starts",
            )
        refusal = [f"    raise RuntimeError({message!r})"]
        if step.any_value:
            refusal = _unless_notebook(message)
        yield from _commented(left, step, [f"if {wrong}:", *refusal])


def _unless_notebook(message: str) -> list[str]:
    """Raise; in a notebook, whose kernel started long before its first cell, print a warning."""
    return [
        "    if 'ipykernel' not in sys.modules:",
        f"        raise RuntimeError({message!r})",
        f"    print({'warning: ' + message!r}, file=sys.stderr)",
    ]


def _guard(frameworks: tuple[str, ...]) -> list[str]:
    if not frameworks:
        return []
    return [
        f"for _name in {frameworks!r}:",
        "    if _name in sys.modules:",
        (
            '        raise RuntimeError(f"{_name} is already imported: move this block above its '
            'import")'
        ),
    ]


def _assignment(step: Step) -> list[str]:
    if step.kind == "unset":
        return [f"os.environ.pop({step.name!r}, None)"]
    if step.kind == "append":
        separator = step.separator or ""
        return [
            f"os.environ[{step.name!r}] = {separator!r}.join("
            f"filter(None, [os.environ.get({step.name!r}), {step.value!r}]))"
        ]
    return [f"os.environ[{step.name!r}] = {step.value!r}"]


def _statement(step: Step) -> list[str]:
    return (step.text or step.name).splitlines()


def _commented(left: Answer, step: Step, lines: list[str]) -> list[str]:
    if blocks.live(left.advice, step):
        return lines
    return [f"# {blocks.only(left, step)}:", *(f"# {line}" for line in lines)]
