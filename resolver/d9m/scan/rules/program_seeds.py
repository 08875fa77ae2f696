"""What a program seeds, and whether it means all of it to repeat."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import msgspec

from d9m.scan.facts import WrittenCall
from d9m.scan.project.call_graph import last_part
from d9m.scan.project.knowledge import Generator
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
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
                runs = program.runs(path, call.scope) and not call.on_trial
                if not running or (runs and _is_own_seed(project, program, path, call)):
                    yield Seeding(generator.title, path, call.scope)


def _seed_calls(
    project: Project, program: Program, path: str, generator: Generator
) -> Iterator[WrittenCall]:
    """Calls of a file that seed a generator: its own, and those of helpers. One without a seed
    takes a new one in every run, and seeds nothing.
    """
    own = path == program.path
    for call in program.files[path].calls:
        if call.name not in generator.marks.seeds or call.gets_nothing:
            continue
        if call.none_with and program.is_none(path, call.scope, call.none_with):
            continue
        if program.never_runs(path, call.place.line, call.place.column):
            continue
        if own or not call.in_main:
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
    asked = program.asks(path, call.scope, call.offered)
    return asked and not starts_worker(project, program, path, call)


class SeededProgram(msgspec.Struct, frozen=True):
    """A program that trains and seeds something as it runs."""

    program: Program
    seeds: frozenset[str]
    """Titles of the generators."""
    is_meant: bool
    """Whether a seed is one of the whole program."""


def seeded_programs(project: Project) -> Iterator[SeededProgram]:
    for program in project.training:
        found = tuple(seedings_of(project, program, True))
        if found:
            titles = frozenset(seeding.title for seeding in found)
            meant = any(_asks_for_repetition(project, program, seeding) for seeding in found)
            yield SeededProgram(program, titles, meant)


_OF_ALL = re.compile(r"(?i)seed|rand|determin|reprod|^(main|run|train|setup|set_up)|init_")
"""Names of functions that seed a program and stand in another file than its entry."""


def _asks_for_repetition(project: Project, program: Program, seeding: Seeding) -> bool:
    """Whether a seed is one of the program, and not that of one split, sampler or image: a function
    that draws from what it has just seeded seeds its own draws, unless the program begins with it.
    """
    facts = program.files[seeding.path]
    function = facts.scopes[seeding.scope]
    own = seeding.path == program.path
    if not own and not _OF_ALL.search(last_part(function.name)):
        return False
    if function.kind != "function" or (own and _begins_with(program, last_part(function.name))):
        return True
    for generator in project.knowledge.generators():
        if generator.title != seeding.title:
            continue
        draws, others = project.vocabulary.draws_of(generator.marks)
        for call in facts.calls:
            if call.scope == seeding.scope and call.name in draws and call.name not in others:
                return False
    return True


def _begins_with(program: Program, name: str) -> bool:
    """Whether the entry of a program calls a function when it is run."""
    return any(
        call.name == name and (call.in_main or call.scope == 0) for call in program.entry.called
    )


def seed_call(project: Project, program: Program, generator: Generator) -> str:
    """The first call that seeds a generator in the release that a program is for."""
    statements = project.vocabulary.statements
    world = project.world_of(program)
    for name in generator.marks.seeds:
        setting = statements.get(name)
        if setting is None or project.questions.holds(
            world, project.kb.settings[setting].condition
        ):
            return name
    return generator.marks.seeds[0]


def listed(names: Collection[str]) -> str:
    return in_words(sorted(names))


def in_words(items: Sequence[str]) -> str:
    """``a, b and c``, in the order that they have."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
