"""The environment that a card asks the records about."""

from __future__ import annotations

from d9m.environment.packages import framework_of
from d9m.scan.card.certain import CertainCode
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.project.questions import PackageStack


def stack_of(project: Project, program: Program, certain: CertainCode) -> PackageStack:
    """Return the packages that a program certainly imports, else all that it may import, without
    frameworks of which it calls nothing beside one of which it does; where none is a framework,
    with that of its libraries.
    """
    kb, vocabulary = project.kb, project.vocabulary
    packages = certain.packages(vocabulary)
    if not packages:
        packages.update(*map(project.packages, program.files.values()))
    frameworks = {name for name in packages if kb.packages[name].kind == "framework"}
    called: set[str | None] = set()
    for facts in program.files.values():
        called.update(vocabulary.package(each.name) for each in facts.calls)
        called.update(vocabulary.package(each.name) for each in facts.assignments)
    if not frameworks.isdisjoint(called):
        packages -= frameworks - called
    if not frameworks:
        below = (framework_of(kb, name) for name in sorted(packages))
        packages.update(name for name in below if name is not None)
    return project.world(program.path, frozenset(packages))
