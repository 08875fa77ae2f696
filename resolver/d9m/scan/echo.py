"""What an answer says of the project itself: its environments and programs."""

from __future__ import annotations

from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.program_seeds import seeded
from d9m.scan.rules.seeds import draws_of
from d9m.scan.scanned import ScannedEnvironment, ScannedPackage, ScannedProgram, SwitchPlace
from d9m.scan.surroundings.surrounding import ScanEnvironment


def environments(project: Project) -> list[ScannedEnvironment]:
    """The packages that the Python files around which something is stated import."""
    imported: dict[str, set[str]] = {}
    around: dict[str, ScanEnvironment] = {}
    for path, facts in project.python.items():
        surrounding = project.around(path)
        around[surrounding.folder] = surrounding
        imported.setdefault(surrounding.folder, set()).update(project.packages(facts))
    found: list[ScannedEnvironment] = []
    for folder in sorted(around):
        packages: dict[str, ScannedPackage] = {}
        for package in sorted(imported[folder]):
            said = project.questions.stated(around[folder], package)
            packages[package] = ScannedPackage(said.version, said.said_in, said.how)
        assumed = [name for name, package in packages.items() if package.how == "assumed"]
        found.append(ScannedEnvironment([folder or "."], packages, around[folder].device, assumed))
    return found


def programs(project: Project) -> list[ScannedProgram]:
    """The programs that train, or that ask for something."""
    found: list[ScannedProgram] = []
    for program in project.programs:
        if project.trains(program) or project.wants_determinism(program):
            found.append(_program(project, program))
    return found


def _program(project: Project, program: Program) -> ScannedProgram:
    switches = project.knowledge.switches()
    places: dict[tuple[str, int], SwitchPlace] = {}
    for effect in program.effects:
        if effect.setting in switches and effect.value not in ("False", "0", "None"):
            place = SwitchPlace(effect.path, effect.place.line, effect.setting)
            places.setdefault((effect.path, effect.place.line), place)
    seeds = sorted(seeded(project, program))
    draws: list[str] = []
    for generator in project.knowledge.generators():
        if next(iter(draws_of(project, program, generator)), None) is not None:
            draws.append(generator.title)
    wants = "repeatable" if places else "seeded" if seeds else "nothing"
    return ScannedProgram(
        program.path, len(program.files), seeds, sorted(draws), list(places.values()), wants
    )
