"""A block for the top of a program, which fails loudly where it comes too late."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.model.advice import Advice
from d9m.model.settings import Step
from d9m.render import words
from d9m.render.advice import blocks
from d9m.render.advice.program import imports, program_steps


def render(advice: Advice, command: str, frameworks: tuple[str, ...]) -> str:
    """`frameworks` are the import names that settings of the process must precede."""
    early = [step for step in advice.steps if step.kind in ("env", "append", "unset")]
    before_start = [step for step in early if step.read_at == "process-start"]
    settable = [step for step in early if step.read_at != "process-start"]
    program = program_steps(advice.steps)
    first = [step for step in program if step.before_import]
    lines = [
        f"# {words.stamp(advice, command)}",
        *blocks.remarks(advice),
        *blocks.elsewhere(advice, ("install", "flags", "config", "code", "avoid")),
    ]
    if before_start or settable or first:
        lines += ["import os", "import sys", ""]
    lines += _required(advice, before_start)
    if settable or first:
        lines += _guard(frameworks)
    for step in settable:
        lines += _commented(advice, step, _assignment(step))
    if settable:
        lines.append("")
    for step in first:
        lines += _commented(advice, step, [*step.imports, *_statement(step)])
    lines += imports([step for step in program if blocks.live(advice, step)])
    for step in program:
        if step not in first:
            needed = [] if blocks.live(advice, step) else step.imports
            lines += _commented(advice, step, [*needed, *_statement(step)])
    return "\n".join(lines).rstrip() + "\n"


def _required(advice: Advice, steps: list[Step]) -> Iterator[str]:
    """Variables that only the shell can set: the block checks them."""
    for step in steps:
        value = step.value or ""
        wrong = f"os.environ.get({step.name!r}) != {value!r}"
        if step.free:
            wrong = f"os.environ.get({step.name!r}) in {('', *step.refuses, None)!r}"
        told = f"set {step.name}={value} before Python starts: inside the process it is too late"
        if step.kind == "unset":
            wrong, told = f"{step.name!r} in os.environ", f"unset {step.name} before Python starts"
        yield from _commented(advice, step, [f"if {wrong}:", f"    raise RuntimeError({told!r})"])


def _guard(frameworks: tuple[str, ...]) -> list[str]:
    if not frameworks:
        return []
    return [
        f"for _name in {frameworks!r}:",
        "    if _name in sys.modules:",
        '        raise RuntimeError(f"{_name} is already imported: move this block above its import")',
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


def _commented(advice: Advice, step: Step, lines: list[str]) -> list[str]:
    if blocks.live(advice, step):
        return lines
    return [f"# only if {words.clauses(step.when or [])}:", *(f"# {line}" for line in lines)]
