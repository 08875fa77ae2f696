"""Straight code: what surely runs before what, in one function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from d9m.scan.facts import Arms, WrittenCall
from d9m.scan.finding import Spot
from d9m.scan.project.effects import Effect
from d9m.scan.project.knowledge import Generator
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project


class Positioned(Protocol):
    """A statement of a file."""

    @property
    def place(self) -> Spot: ...

    @property
    def scope(self) -> int: ...

    @property
    def arms(self) -> Arms: ...


def runs_before(one: Positioned, other: Positioned) -> bool:
    """Whether two statements of a file are of one function, and where the other runs, this one
    has run.
    """
    return (
        one.scope == other.scope
        and one.place.line < other.place.line
        and other.arms[: len(one.arms)] == one.arms
    )


def trains_between(project: Project, path: str, one: Positioned, other: Positioned) -> bool:
    """Whether something between two statements trains, or may: the file's own code is called."""
    facts = project.files[path]
    lines = range(one.place.line + 1, other.place.line)
    marks = project.vocabulary.trains
    if any(call.name in marks and call.place.line in lines for call in facts.calls):
        return True
    own = {scope.name.rpartition(".")[2] for scope in facts.scopes}
    return any(call.name in own and call.line in lines for call in facts.called)


def seedings(
    project: Project, program: Program, generator: Generator
) -> Iterator[tuple[str, WrittenCall | Effect]]:
    """Where a program seeds a global generator, with the file."""
    for path, facts in program.files.items():
        for call in facts.calls:
            if call.name in generator.marks.seeds and not call.gets_nothing:
                yield path, call
        for effect in project.effects[path]:
            if effect.setting in generator.settings and effect.helper is not None:
                yield path, effect


def first_before(candidates: Iterable[WrittenCall], later: Positioned) -> WrittenCall | None:
    """The first of some calls that runs before a statement."""
    found = [call for call in candidates if runs_before(call, later)]
    return min(found, key=lambda call: call.place, default=None)
