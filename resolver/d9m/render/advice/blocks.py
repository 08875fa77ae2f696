"""Common parts of the blocks to run: which steps are live, and which are comments."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.model.advice import Advice, ModeChoice
from d9m.model.settings import Step
from d9m.render import phrases
from d9m.render.advice.step import line as line_of
from d9m.render.advice.step import shell as shell_step
from d9m.render.interface import Answer


def remaining(answer: Answer) -> Answer:
    """The answer without the steps that the user's own calls make."""
    steps = [step for step in answer.advice.steps if step.covered_by is None]
    return msgspec.structs.replace(
        answer, advice=msgspec.structs.replace(answer.advice, steps=steps)
    )


def stamp(answer: Answer) -> str:
    """The comment line that every block carries."""
    known = answer.advice.d9m
    return f"# d9m {known.version}, knowledge base {known.kb_date}: {answer.command}"


def live(advice: Advice, step: Step) -> bool:
    """Whether a step is a line of a block, not a comment.

    A step that depends on the release of a package named without a version
    could be wrong, so it is written as a comment. Where a package is named so
    that several releases are meant, that goes for statements and packages,
    which need not exist in all of them; a variable is harmless where nothing
    reads it. The same holds for what depends on an unnamed package.
    """
    here = advice.environment
    open_ = {name for name, version in here.packages.items() if version == "any"}
    if step.kind not in ("env", "append", "unset"):
        open_ |= here.packages.keys() - set(here.assumed)
    return step.when is None or not any(set(clause) & open_ for clause in step.when)


def only(answer: Answer, step: Step) -> str:
    """Where a step is needed, as half a sentence: ``only with PyTorch before 2.10``; empty for
    everywhere.
    """
    where = phrases.conditions(answer.kb, step.when or [])
    return f"only {where}" if where else ""


def shell(answer: Answer) -> Iterator[str]:
    """Lines of a POSIX shell that make the process settings."""
    for step in answer.advice.steps:
        line = shell_step(step)
        if line is None:
            continue
        yield line if live(answer.advice, step) else f"# {only(answer, step)}: {line}"


def elsewhere(answer: Answer, kinds: tuple[str, ...]) -> Iterator[str]:
    """Comment lines for what a block cannot do itself; a name that no module is in front of, with
    its import.
    """
    for step in answer.advice.steps:
        if step.kind not in kinds:
            continue
        text = step.text or step.name if step.kind == "install" else line_of(step)
        where = "" if live(answer.advice, step) else f", {only(answer, step)}"
        imports = [each for each in step.imports if each.startswith("from ")]
        for line in [*imports, *text.splitlines()]:
            yield f"# also, {_PLACES[step.kind]}{where}: {line}"


_PLACES = {
    "install": "install",
    "python": "in the program",
    "flags": "on the command line",
    "config": "in the configuration",
    "code": "in the code",
    "avoid": "leave out",
}


def mode_choice(advice: Advice) -> str:
    """Return what the deterministic mode costs on, and what off: half a sentence each."""
    on, off = advice.choices
    named = [each.title for each in advice.solutions if each.label in on.solutions]
    return f"with {phrases.join(named)}, {_costs(on)}; without it, {_costs(off)}"


def _costs(choice: ModeChoice) -> str:
    parts: list[str] = []
    if choice.raises:
        verb = "raises an error" if len(choice.raises) == 1 else "raise errors"
        parts.append(f"{phrases.ops(choice.raises, MOST_NAMED)} {verb}")
    if choice.nondeterministic:
        verb = "is" if len(choice.nondeterministic) == 1 else "are"
        parts.append(f"{phrases.ops(choice.nondeterministic, MOST_NAMED)} {verb} nondeterministic")
    return " and ".join(parts) or "no op is nondeterministic"


MOST_NAMED = 3
"""Ops that a choice names one by one."""


def remarks(answer: Answer) -> Iterator[str]:
    """Comment lines: what is contested, and what the user's own calls do."""
    if answer.advice.choices:
        yield f"# CHOICE: {mode_choice(answer.advice)}"
    for conflict in answer.advice.conflicts:
        yield f"# CONFLICT {conflict.name}: {'; '.join(conflict.choices)}"
    for conflict in answer.advice.scope_conflicts:
        other = f"--scope {conflict.scope} needs another {conflict.name}"
        yield f"# NOT BOTH: {other}: {'; '.join(conflict.choices)}"
    for helper in answer.advice.helpers:
        if helper.used and helper.covers:
            yield f"# left out, {helper.call} sets it: {', '.join(helper.covers)}"
