"""What a program seeds, and whether it means all of it to repeat."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from d9m.scan.facts import WrittenCall
from d9m.scan.knowledge import Generator
from d9m.scan.programs import Program
from d9m.scan.project import Project
from d9m.scan.rules.loaders import starts_worker


def seeded(project: Project, program: Program, running: bool = False) -> frozenset[str]:
    """Titles of the generators that a program seeds, on demand or always; `running`: itself, from
    something fixed, in code that it calls and not only in a file that it imports.
    """
    return frozenset(found.title for found in seedings_of(project, program, running))


class Seeding(msgspec.Struct, frozen=True):
    """A place that seeds a global generator."""

    title: str
    path: str
    scope: int


def seedings_of(project: Project, program: Program, running: bool) -> Iterator[Seeding]:
    for generator in project.knowledge.generators():
        for path in program.files:
            for call in _seed_calls(project, program, path, generator):
                if not running or (
                    program.runs(path, call.scope) and _is_own_seed(project, program, path, call)
                ):
                    yield Seeding(generator.title, path, call.scope)


def _seed_calls(
    project: Project, program: Program, path: str, generator: Generator
) -> Iterator[WrittenCall]:
    """Calls of a file that seed a generator: its own, and those of helpers."""
    own = path == program.path
    for call in program.files[path].calls:
        if call.name in generator.marks.seeds and (own or not call.in_main):
            yield call
    for effect in project.effects[path]:
        call = effect.call
        if call is None or effect.setting not in generator.settings or (call.in_main and not own):
            continue
        if call.name not in generator.marks.seeds:
            yield call


def _is_own_seed(project: Project, program: Program, path: str, call: WrittenCall) -> bool:
    """Whether a seed is fixed, given, and not that of a loader's worker."""
    chance = project.vocabulary.chance
    if not call.fallback and any(name in chance for name in call.made_from):
        return False
    return is_asked(program, path, call) and not starts_worker(project, program, path, call)


_OF_ALL = re.compile(r"(?i)seed|rand|determin|reprod|(^|[._])(main|run|train|setup|set_up|init_)")
"""Names of functions that seed a program, rather than one split or sampler of it."""


def asks_for_repetition(program: Program, seeding: Seeding) -> bool:
    """Whether a seed is one of the program: in its own file, or in a function named after seeds."""
    function = program.files[seeding.path].scopes[seeding.scope].name
    return seeding.path == program.path or bool(_OF_ALL.search(function.rpartition(".")[2]))


def is_asked(program: Program, path: str, call: WrittenCall) -> bool:
    """Whether some call asks for what only a parameter, false by default, offers."""
    return not call.offered or program.asks(path, call.scope, call.offered)


def listed(names: frozenset[str]) -> str:
    ordered = sorted(names)
    return ordered[0] if len(ordered) == 1 else f"{', '.join(ordered[:-1])} and {ordered[-1]}"
