"""Cards: which programs a project has, what each runs with, and its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from d9m.scan.card.certain import CertainCode
from d9m.scan.card.checks import CardLines
from d9m.scan.card.environment import stack_of
from d9m.scan.card.launches import ProgramStart, started_by
from d9m.scan.facts import FileFacts
from d9m.scan.finding import ScanFinding
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.seeds import seedings
from d9m.scan.scanned import ScannedPackage, ScannedProgram

MOST_PACKAGES = 3


def cards(project: Project, findings: Iterable[ScanFinding]) -> list[ScannedProgram]:
    """Return a card for each program that uses a framework, or else any package of the records;
    without any, one for the project. Those that jobs start come first. `findings`: errors tell
    which settings may not count.
    """
    faults = frozenset((each.path, each.line) for each in findings if each.severity == "error")
    kinds = project.kb.packages
    found: list[tuple[bool, ScannedProgram]] = []
    for program in (*programs(project), as_one(project)):
        if program.path == "." and found:
            break
        certain = CertainCode(program)
        packages = [name for name, _version in stack_of(project, program, certain).packages]
        if packages:
            has_framework = any(kinds[name].kind == "framework" for name in packages)
            found.append((has_framework, _card(project, program, certain, faults)))
    most = max((has_framework for has_framework, _each in found), default=False)
    shown = [card for has_framework, card in found if has_framework == most]
    return sorted(shown, key=lambda card: (not card.jobs, card.path))


def programs(project: Project) -> Iterator[Program]:
    """Yield what jobs start, notebooks, and scripts that nothing imports or that train or read a
    command line themselves; without a ``__main__`` only those that train or seed.
    """
    imported: set[str] = set()
    trains = project.vocabulary.marks("trains")
    for program in project.programs:
        imported.update(path for path in program.files if path != program.path)
    for program in project.programs:
        entry = program.entry
        is_named = started_by(program) or program.path in project.entry_points
        if is_named or entry.kind == "notebook":
            yield program
        elif entry.is_entry:
            is_run = bool(entry.options) or any(call.name in trains for call in entry.calls)
            if is_run or program.path not in imported:
                yield program
        elif program.path not in imported:
            seeds = any(path == program.path for _one, path, _call in seedings(project, program))
            if seeds or project.trains(program):
                yield program


def as_one(project: Project) -> Program:
    """Return all files of a project that has no program."""
    entry = FileFacts(path=".", kind="python")
    return Program(entry, project.python.values(), project.effects, ())


def _card(
    project: Project,
    program: Program,
    certain: CertainCode,
    faults: frozenset[tuple[str, int]],
) -> ScannedProgram:
    around = project.around(program.path)
    started = started_by(program)
    lines = CardLines(project, program, started, certain, faults)
    return ScannedProgram(
        path=program.path,
        files=sorted(program.files),
        packages=_packages(project, program, certain),
        device=around.device,
        device_from=around.device_said_in,
        launcher=next((each.launch.launcher for each in started if each.launch.launcher), ""),
        ranks=lines.ranks,
        jobs=_jobs(started),
        checks=lines.checks(),
    )


def _jobs(started: Sequence[ProgramStart]) -> list[str]:
    return list(dict.fromkeys(f"{each.path}:{each.launch.place.line}" for each in started))


def _packages(
    project: Project, program: Program, certain: CertainCode
) -> dict[str, ScannedPackage]:
    """Return the frameworks of a program, with their releases; without any, its libraries."""
    kinds = project.kb.packages
    names = [name for name, _version in stack_of(project, program, certain).packages]
    named = [name for name in names if kinds[name].kind == "framework"] or names
    found: dict[str, ScannedPackage] = {}
    around = project.around(program.path)
    for name in named[:MOST_PACKAGES]:
        said = project.questions.stated(around, name)
        found[name] = ScannedPackage(said.version, said.said_in, said.how, kinds[name].title)
    return found
