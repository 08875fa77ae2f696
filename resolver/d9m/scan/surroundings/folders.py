"""Which folder the files that state versions speak for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from d9m.scan.versions.stated import FileVersions


def by_folder(
    files: Sequence[tuple[str, FileVersions]], code: Iterable[str]
) -> dict[str, list[tuple[str, FileVersions]]]:
    """Group the files that state anything by folder, in the order in which they count there. The
    root is always among the folders.

    `code` holds the paths of the Python files: a folder without any (``docker/``) speaks for the
    one above it, and so does an ``environment/`` without any.
    """
    paths = list(code)
    with_code = _folders_with(paths)
    found: dict[str, list[tuple[str, FileVersions]]] = {"": []}
    for path, versions in sorted(files, key=lambda file: (_rank(file[0]), file[0])):
        if versions.packages or versions.images:
            folder = path.rpartition("/")[0]
            while folder and folder not in with_code:
                folder = folder.rpartition("/")[0]
            found.setdefault(folder, []).append((path, versions))
    return found


def _rank(path: str) -> bool:
    """Files of the same strength count in this order; requirements.txt speaks for the program."""
    name = path.rpartition("/")[2]
    return name not in ("requirements.txt", "pyproject.toml", "Dockerfile")


def _folders_with(code: Iterable[str]) -> frozenset[str]:
    found: set[str] = {""}
    for path in code:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)
