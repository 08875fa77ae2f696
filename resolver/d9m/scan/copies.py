"""Folders of a project that are copies of other projects, as what stands beside their code says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from d9m.scan.facts import FileFacts

_LICENSE = re.compile(r"(?i)(licen[cs]e|copying)\b")
_README = re.compile(r"(?i)readme\b")


def copied_folders(
    files: Mapping[str, FileFacts], imported: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """Folders below the root that have a licence of their own; and those with a README of their own
    that the rest of the code imports, that import nothing of it, and that the README at the root
    does not name. `imported`: Python file -> files that it imports.
    """
    named: set[str] = set()
    for path, facts in files.items():
        if "/" not in path and _README.match(path):
            named.update(facts.texts)
    found: set[str] = set()
    for path in files:
        folder, _slash, name = path.rpartition("/")
        if not folder or not any(not other.startswith(f"{folder}/") for other in imported):
            continue
        if _LICENSE.match(name):
            found.add(folder)
            continue
        is_named = folder.rpartition("/")[2] in named
        if _README.match(name) and not is_named and _is_borrowed(folder, imported):
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
