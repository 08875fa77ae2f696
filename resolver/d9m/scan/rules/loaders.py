"""Calls that make loaders of data."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.model.code_marks import Loader
from d9m.scan.facts import WrittenCall
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project


class LoaderCall(msgspec.Struct, frozen=True):
    """A call that makes a loader of data."""

    path: str
    call: WrittenCall
    loader: Loader

    def argument(self, name: str) -> str:
        """An argument as written; empty where it is left out."""
        if name in self.call.keywords:
            return self.call.keywords[name]
        place = self.loader.parameters.index(name)
        return self.call.positional[place] if place < len(self.call.positional) else ""

    @property
    def is_plain(self) -> bool:
        """Whether no arguments are unpacked into the call."""
        return not any(text.startswith("*") for text in self.call.positional)


def loadings(project: Project, program: Program) -> Iterator[LoaderCall]:
    """Yield the calls of a program that make a loader."""
    loaders = project.vocabulary.loaders
    for path, call in program.calls(loaders):
        yield LoaderCall(path, call, loaders[call.name])
