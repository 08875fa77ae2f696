"""The environment that a card asks the records about."""

from __future__ import annotations

from d9m.environment.packages import framework_of
from d9m.scan.card.certain import CertainCode
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.project.questions import PackageStack


def stack_of(project: Project, program: Program, certain: CertainCode) -> PackageStack:
    """Return the packages that a program certainly imports, else all that it may import; where none
    is a framework, with that of its libraries.
    """
    kb = project.kb
    packages = certain.packages(project.vocabulary)
    if not packages:
        packages.update(*map(project.packages, program.files.values()))
    if not any(kb.packages[name].kind == "framework" for name in packages):
        frameworks = (framework_of(kb, name) for name in sorted(packages))
        packages.update(name for name in frameworks if name is not None)
    return project.world(program.path, frozenset(packages))
