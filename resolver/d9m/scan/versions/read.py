"""From the text of a file to the versions that it states."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from d9m.environment import package_files
from d9m.errors import DataError
from d9m.scan.file_kinds import Kind
from d9m.scan.versions import project_files
from d9m.scan.versions.project_files import Pair
from d9m.scan.versions.stated import (
    FileVersions,
    StatedImage,
    StatedPackage,
    Strength,
    strength_of,
)

_BY_NAME: dict[str, Callable[[str], list[Pair]]] = {
    "pyproject.toml": project_files.pyproject,
    "setup.cfg": project_files.setup_cfg,
    "setup.py": project_files.setup_py,
    "Pipfile": project_files.pipfile,
    "Pipfile.lock": project_files.pipfile_lock,
}
_LOCKS = re.compile(r"(uv|poetry|pdm|Pipfile)\.lock|pylock(\..+)?\.toml|conda-lock\.ya?ml")
_CONDA = (re.compile(r"^channels:", re.MULTILINE), re.compile(r"^dependencies:", re.MULTILINE))
"""Lines of a conda environment, whatever its name: ``linux-gpu-env.yml``."""
_TESTED_WITH = (".github/", ".circleci/", ".gitlab", "azure-pipelines")
"""Versions that a CI server tests with; the program is not meant for them."""

_IMAGE = re.compile(
    r"(?:image:|--container-image[= ]|\b(?:docker|podman) run\b|singularity|apptainer|docker://)"
)
_REFERENCE = re.compile(r"(?:docker://)?((?:[\w.-]+[/#])*[\w.-]+:[\w.-]+)")


def read_versions(path: str, kind: Kind, text: str) -> FileVersions:
    """Return the statements of a file; none for one that states none or cannot be read."""
    name = path.rpartition("/")[2]
    if path.startswith(_TESTED_WITH):
        return FileVersions()
    if name in _BY_NAME:
        strength: Strength | None = "lock" if _LOCKS.fullmatch(name) else None
        return FileVersions(_placed(_BY_NAME[name](text), text, strength), device=_device(text))
    if kind == "yaml" and all(part.search(text) for part in _CONDA):
        return _package_file("environment.yml", text)
    if kind in ("packages", "dockerfile"):
        return _package_file(name, text)
    if kind in ("shell", "yaml", "notebook", "makefile"):
        return _job(text)
    return FileVersions()


def _package_file(name: str, text: str) -> FileVersions:
    locked = _conda_lock(text) if name.startswith("conda-lock") else None
    if locked is not None:
        return FileVersions(_placed(locked, text, "lock"))
    try:
        found = package_files.read(text, name)
    except DataError:
        return FileVersions()
    strength: Strength | None = "lock" if _LOCKS.fullmatch(name) else None
    images = (
        (StatedImage(found.container, _line_of(r"^[ \t]*(?i:from)\s", text, last=True)),)
        if found.container is not None
        else ()
    )
    return FileVersions(_placed(found.packages, text, strength), images, _device(text))


def _conda_lock(text: str) -> list[Pair]:
    pattern = r"^[ \t]*(?:-[ \t]*)?name: ['\"]?([\w.-]+)['\"]?\n\s*version: ['\"]?([\w.+!-]+)"
    return [(match[1], match[2]) for match in re.finditer(pattern, text, re.MULTILINE)]


def _job(text: str) -> FileVersions:
    """A script, a notebook or YAML: what pip installs in it, and its images."""
    packages: list[StatedPackage] = []
    images: list[StatedImage] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if "install" in line and len(line) < LONGEST_COMMAND:
            for name, version in package_files.pip_installs(line.replace("\\n", " ").strip(' ",')):
                if version is None or "$" not in version:
                    packages.append(StatedPackage(name, version, number, strength_of(version)))
        if _IMAGE.search(line) and len(line) < LONGEST_COMMAND:
            for match in _REFERENCE.finditer(line):
                images.append(StatedImage(match[1].replace("#", "/"), number))
    return FileVersions(tuple(packages), tuple(images))


LONGEST_COMMAND = 2000
"""Characters; longer lines hold outputs of notebooks and other data."""


def _placed(
    pairs: Iterable[Pair], text: str, strength: Strength | None
) -> tuple[StatedPackage, ...]:
    """The packages of a file, each with the line that names it."""
    lines = _first_lines(text)
    found: list[StatedPackage] = []
    for name, version in pairs:
        line = lines.get(_spelled(name), 1)
        own = strength_of(version) if version is None or strength is None else strength
        found.append(StatedPackage(name, version, line, own))
    return tuple(found)


def _first_lines(text: str) -> dict[str, int]:
    """The line of every word that a name of a package can be, where it is first the subject of
    its line.
    """
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        for word in _subjects(line):
            found.setdefault(_spelled(word), number)
    return found


def _subjects(line: str) -> Iterator[str]:
    plain = line.split("#")[0]
    listed = re.match(r"""[\s\-"'\[(]*(?:name\s*[=:]\s*["']?)?([A-Za-z0-9][\w.\-]*)""", plain)
    if listed is not None:
        yield listed[1]
    yield from re.findall(r"""["'\s]([A-Za-z][\w.\-]*)(?=\s*(?:\[|[<>=!~]=?|["',\s]|$))""", plain)


def _spelled(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.lower())


def _line_of(pattern: str, text: str, *, last: bool = False) -> int:
    places = [match.start() for match in re.finditer(pattern, text, re.MULTILINE)]
    return text.count("\n", 0, places[-1 if last else 0]) + 1 if places else 1


_BUILT_FOR = re.compile(
    r"download\.pytorch\.org/whl/(?:nightly/)?(cpu|cu|rocm)"
    r"|\b(?:torch|jax|tensorflow)\s*={2,3}\s*[\d.]+\+(cpu|cu|rocm)"
)


def _device(text: str) -> str | None:
    """Return the device that a file's wheels are built for, if it names one index or one local
    version.
    """
    built = {match[1] or match[2] for match in _BUILT_FOR.finditer(text)}
    if len(built) != 1:
        return None
    return {"cpu": "cpu", "cu": "cuda", "rocm": "rocm"}[built.pop()]
