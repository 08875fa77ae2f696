"""Finds folders that are copies of other projects, by their licence, README or name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from d9m.scan.facts import FileFacts
from d9m.scan.file_kinds import kind_of


def copied_folders(
    files: Mapping[str, FileFacts], imported: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """Folders below the root that have a licence of their own; and those with a README of their own
    that the rest of the code imports, that import nothing of it, and that the README at the root
    does not name. `imported`: Python file -> files that it imports.
    """
    named: set[str] = set()
    for path, facts in files.items():
        if "/" not in path and kind_of(path, "") == "readme":
            named.update(facts.texts)
    found: set[str] = set()
    for path, facts in files.items():
        folder = path.rpartition("/")[0]
        if facts.kind != "about" or not folder:
            continue
        if not any(not other.startswith(f"{folder}/") for other in imported):
            continue
        kind = kind_of(path, "")
        if kind == "license":
            found.add(folder)
            continue
        is_named = folder.rpartition("/")[2] in named
        if kind == "readme" and not is_named and _is_borrowed(folder, imported):
            found.add(folder)
    return frozenset(found)


def _is_borrowed(folder: str, imported: Mapping[str, Sequence[str]]) -> bool:
    """Whether code outside of a folder imports from it, and none in it from outside."""
    start = f"{folder}/"
    borrowed = False
    for path, others in imported.items():
        inside = path.startswith(start)
        for other in others:
            if inside and not other.startswith(start):
                return False
            borrowed = borrowed or (not inside and other.startswith(start))
    return borrowed


_OWN = ("", "src")
"""Where the library of a project itself is."""


def copied_libraries(files: Mapping[str, FileFacts], names: Collection[str]) -> frozenset[str]:
    """Packages with a version, below a folder of something else, that are called like a library.
    `names`: those that known libraries are imported by.
    """
    found: set[str] = set()
    for path, facts in files.items():
        folder, _slash, name = path.rpartition("/")
        above, _slash, package = folder.rpartition("/")
        known = name == "__init__.py" and package in names and above not in _OWN
        if known and "__version__" in facts.mentioned:
            found.add(folder)
    return frozenset(found)
