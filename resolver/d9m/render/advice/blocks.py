"""What the formats that run have in common: which steps are live, and how values are quoted."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.model.advice import Advice
from d9m.model.settings import Step
from d9m.render import words
from d9m.render.advice.step import line as line_of
from d9m.render.advice.step import shell as shell_step


def undone(advice: Advice) -> Advice:
    """The advice without what the user's calls do: a block holds what is left."""
    return msgspec.structs.replace(advice, steps=[step for step in advice.steps if step.covered_by is None])


def live(advice: Advice, step: Step) -> bool:
    """Whether a step can stand in a block as it is.

    A step that depends on the release of a package named without a version
    could be wrong, so it is written as a comment. Where a package is named so
    that several releases are meant, that goes for statements and packages,
    which need not exist in all of them; a variable is harmless where nothing
    reads it. So is what depends on something nobody named.
    """
    here = advice.environment
    open_ = {name for name, version in here.packages.items() if version == "any"}
    if step.kind not in ("env", "append", "unset"):
        open_ |= here.packages.keys() - set(here.assumed)
    return step.when is None or not any(set(clause) & open_ for clause in step.when)


def shell(advice: Advice) -> Iterator[str]:
    """Lines of a POSIX shell that make the process settings."""
    for step in advice.steps:
        line = shell_step(step)
        if line is None:
            continue
        if live(advice, step):
            yield line
        else:
            yield f"# only if {words.clauses(step.when or [])}: {line}"


def elsewhere(advice: Advice, kinds: tuple[str, ...]) -> Iterator[str]:
    """Comment lines for what a block cannot do itself."""
    for step in advice.steps:
        if step.kind in kinds:
            text = step.text or step.name if step.kind == "install" else line_of(step)
            only = "" if live(advice, step) else f", only if {words.clauses(step.when or [])}"
            yield from (f"# also, {_PLACES[step.kind]}{only}: {line}" for line in text.splitlines())


_PLACES = {
    "install": "install",
    "python": "in the program",
    "flags": "on the command line",
    "config": "in the configuration",
    "code": "in the code",
    "avoid": "leave out",
}


def remarks(advice: Advice) -> Iterator[str]:
    """Comment lines: what is contested, and what is left to calls."""
    for conflict in advice.conflicts:
        yield f"# CONFLICT {conflict.name}: {'; '.join(conflict.choices)}"
    for conflict in advice.scope_conflicts:
        other = f"--scope {conflict.scope} would ask for another {conflict.name}"
        yield f"# NOT BOTH: {other}: {'; '.join(conflict.choices)}"
    for each in advice.helpers:
        if each.used and each.covers:
            yield f"# left out, {each.call} does it: {', '.join(each.covers)}"
