"""Loaders of data: the calls that make them, and what runs in their workers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.model.records import Loader
from d9m.model.when import parse
from d9m.scan.facts import FileFacts, WrittenCall
from d9m.scan.knowledge import Generator
from d9m.scan.programs import Program
from d9m.scan.project import Project

READERS = ("__getitem__", "__getitems__", "__iter__", "__next__")
"""Methods of a dataset that a loader calls, in its workers if it has any."""

_IN_WORKERS = frozenset((*READERS, "__call__"))
"""With those of the transforms that a dataset calls."""


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
        return not any(text.startswith("*") for text in self.call.positional)


def loadings(project: Project, program: Program) -> Iterator[LoaderCall]:
    for path, facts in program.files.items():
        for call in facts.calls:
            loader = project.vocabulary.loaders.get(call.name)
            if loader is not None:
                yield LoaderCall(path, call, loader)


def has_workers(loading: LoaderCall) -> bool:
    """Whether a loader starts processes, as far as its text says."""
    return loading.argument(loading.loader.workers) not in ("", "0", "None")


def seeded_by_workers(project: Project, program: Program, generator: Generator) -> bool:
    """Whether workers of the program's loaders seed a generator, and from a fixed number: that of
    their own library, which `program` seeds.
    """
    where = generator.marks.seeded_in_workers
    if where is None or not project.questions.surely_holds(project.world_of(program), parse(where)):
        return False
    return any(has_workers(loading) for loading in loadings(project, program))


def runs_in_workers(program: Program, facts: FileFacts, scope: int) -> bool:
    """Whether a scope is a method that workers call, or a function that only such methods call."""
    function = facts.scopes[scope]
    last = function.name.rpartition(".")[2]
    if facts.scopes[max(function.parent, 0)].kind == "class":
        return last in _IN_WORKERS
    callers: list[str] = []
    for other in program.files.values():
        for call in other.called:
            if call.name == last:
                callers.append(other.scopes[call.scope].name.rpartition(".")[2])
    return bool(callers) and all(name in _IN_WORKERS for name in callers)
