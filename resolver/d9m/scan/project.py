"""All that rules look at: facts of files, and what holds around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from d9m.kb.store import KnowledgeBase
from d9m.scan.facts import FileFacts
from d9m.scan.surrounding import Surrounding

Goal: TypeAlias = Literal["auto", "seeded", "repeatable"]


class Project:
    """The files of a scan, in order of path."""

    def __init__(
        self,
        kb: KnowledgeBase,
        files: Sequence[FileFacts],
        surroundings: Mapping[str, Surrounding],
        goal: Goal = "auto",
        entry_points: Sequence[str] = (),
    ) -> None:
        self.kb = kb
        self.files = {facts.path: facts for facts in sorted(files, key=lambda facts: facts.path)}
        self.goal: Goal = goal
        self.entry_points = tuple(entry_points)
        self._surroundings = surroundings

    def around(self, path: str) -> Surrounding:
        """What holds for a file: what the nearest folder above it states."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            if folder in self._surroundings:
                return self._surroundings[folder]
        return Surrounding("")
