"""What an answer says of the environments of a project."""

from __future__ import annotations

from d9m.scan.project.project import Project
from d9m.scan.scanned import ScannedEnvironment, ScannedPackage
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
            packages[package] = ScannedPackage(
                said.version, said.said_in, said.how, project.kb.packages[package].title
            )
        assumed = [name for name, package in packages.items() if package.how == "assumed"]
        found.append(ScannedEnvironment([folder or "."], packages, around[folder].device, assumed))
    return found
