"""Which folder the files that state versions speak for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from d9m.scan.versions.stated import FileVersions


def by_folder(
    files: Sequence[tuple[str, FileVersions]], code: Iterable[str]
) -> dict[str, list[tuple[str, FileVersions]]]:
    """The files that state anything, by the folder that they speak for, and in the order in which
    they count there. The root is always among the folders.

    `code` holds the paths of the Python files: a folder without any (``docker/``) speaks for the
    one above it, and so does ``environment/`` without any of its own.
    """
    paths = list(code)
    with_code = _folders_with(paths)
    with_code -= _of_environments(with_code, paths)
    found: dict[str, list[tuple[str, FileVersions]]] = {"": []}
    for path, versions in sorted(files, key=lambda file: (_rank(file[0]), file[0])):
        if versions.packages or versions.images:
            folder = path.rpartition("/")[0]
            if _is_shown_by_code(versions):
                folder = path.partition("/")[0] if folder else ""
            while folder and folder not in with_code:
                folder = folder.rpartition("/")[0]
            found.setdefault(folder, []).append((path, versions))
    return found


def _is_shown_by_code(versions: FileVersions) -> bool:
    """Whether only the calls of a file say which releases it is for: then the folder of the
    project around it is, too.
    """
    return not versions.images and all(each.strength == "code" for each in versions.packages)


def _rank(path: str) -> int:
    """Files of the same strength count in this order; requirements.txt speaks for the program."""
    name = path.rpartition("/")[2]
    if name in ("requirements.txt", "pyproject.toml", "Dockerfile"):
        return 0
    return 2 if any(word in path.lower() for word in ("dev", "test", "doc", "lint")) else 1


def _folders_with(code: Iterable[str]) -> frozenset[str]:
    found: set[str] = {""}
    for path in code:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


_INSTALLS = re.compile(r"(?i)(conda_?)?envs?|environments?|requirements|conda|install|setup|docker")
"""Names of folders that say what to install."""


def _of_environments(with_code: frozenset[str], code: Iterable[str]) -> frozenset[str]:
    """Those of the folders around Python files that say what to install, and hold none
    themselves.
    """
    direct = {path.rpartition("/")[0] for path in code}
    found: set[str] = set()
    for folder in with_code - direct:
        if _INSTALLS.fullmatch(folder.rpartition("/")[2]):
            found.add(folder)
    return frozenset(found)
