"""Repeat the environments of a project in an answer."""

from __future__ import annotations

from d9m.scan.project.project import Project
from d9m.scan.scanned import ScannedEnvironment, ScannedPackage
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
            title = project.kb.packages[package].title
            packages[package] = ScannedPackage(said.version, said.said_in, said.how, title)
        assumed = [name for name, package in packages.items() if package.how == "assumed"]
        found.append(ScannedEnvironment([folder or "."], packages, surrounding.device, assumed))
    return found
