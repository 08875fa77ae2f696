"""Whether a program has anything for which a library chooses an algorithm by timing."""

from __future__ import annotations

from d9m.scan.facts import Import
from d9m.scan.project.effects import Effect
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project


def times_nothing(project: Project, effect: Effect) -> bool:
    """Whether programs that train may run a line that turns timing on, and none of them has an op
    that is timed: each builds its layers itself, and imports no library that could build others.
    """
    found = False
    for program in project.programs:
        if effect.path not in program.files or not project.trains(program):
            continue
        if not program.may_enter((effect.path, effect.scope)):
            continue
        if not _builds_layers(project, program) or _may_time(project, program, effect.setting):
            return False
        found = True
    return found


def _builds_layers(project: Project, program: Program) -> bool:
    layers = project.vocabulary.layers
    return any(call.name in layers for facts in program.files.values() for call in facts.calls)


def _may_time(project: Project, program: Program, setting: str) -> bool:
    for facts in program.files.values():
        if any(_may_build(project, each) for each in facts.imports):
            return True
        for call in facts.calls:
            if not _is_timed(project, call.name, setting) or not program.may_run(facts.path, call):
                continue
            if program.makes_objects(facts.path, call.scope):
                return True
    return False


def _may_build(project: Project, statement: Import) -> bool:
    """Whether an import takes something from a library that may build layers."""
    name = ".".join(filter(None, (statement.module, statement.name)))
    package = project.vocabulary.package(name)
    if package is None or project.kb.packages[package].kind != "library":
        return False
    marks = project.vocabulary.builds_nothing
    return name not in marks and statement.module not in marks


def _is_timed(project: Project, name: str, setting: str) -> bool:
    """Whether an op has a source in which a setting lets a library time its algorithms."""
    timed = project.knowledge.sources_timed_by(setting)
    package = project.vocabulary.package(name)
    if package is None or not project.vocabulary.is_op(name):
        return False
    for entry in project.vocabulary.entries(package, name):
        for reached in entry.reaches:
            sources = project.kb.sources_of(entry.package, reached.op)
            if any(source.id in timed for source in sources):
                return True
    return False
