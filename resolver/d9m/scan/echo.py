"""What an answer says of the project itself: its environments and programs."""

from __future__ import annotations

from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.seeds import draws, seedings
from d9m.scan.scanned import ScannedEnvironment, ScannedPackage, ScannedProgram, SwitchPlace
from d9m.scan.surroundings.surrounding import ScanEnvironment


def environments(project: Project) -> list[ScannedEnvironment]:
    """The packages that the Python files around which something is stated import."""
    around: dict[str, ScanEnvironment] = {}
    for path in project.python:
        around.setdefault(project.around(path).folder, project.around(path))
    found: list[ScannedEnvironment] = []
    for folder, surrounding in sorted(around.items()):
        packages: dict[str, ScannedPackage] = {}
        for package in sorted(project.imported_in(folder)):
            said = project.questions.stated(surrounding, package)
            packages[package] = ScannedPackage(said.version, said.said_in, said.how)
        assumed = [name for name, package in packages.items() if package.how == "assumed"]
        found.append(ScannedEnvironment([folder or "."], packages, surrounding.device, assumed))
    return found


def programs(project: Project) -> list[ScannedProgram]:
    """The programs that train, or that ask for something."""
    found: list[ScannedProgram] = []
    for program in project.programs:
        if project.trains(program) or project.wants_determinism(program):
            found.append(_program(project, program))
    return found


def _program(project: Project, program: Program) -> ScannedProgram:
    switches: list[SwitchPlace] = []
    for one in program.effects:
        place = SwitchPlace(one.path, one.place.line, one.setting)
        if project.turns_on(one.setting, one.value) and place not in switches:
            switches.append(place)
    seeds = sorted({one.title for one, _path, _call in seedings(project, program)})
    drawn = sorted({one.title for one, _path, _call in draws(project, program)})
    wants = "repeatable" if switches else "seeded" if seeds else "nothing"
    return ScannedProgram(program.path, len(program.files), seeds, drawn, switches, wants)
