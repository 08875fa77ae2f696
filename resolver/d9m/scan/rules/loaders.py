"""Loaders of data: the calls that make them, and what runs in their workers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.model.code_marks import Loader
from d9m.model.when import parse
from d9m.scan.facts import FileFacts, WrittenCall
from d9m.scan.finding import Spot
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
    their own library, which `program` seeds. A loader whose arguments are unpacked may have some.
    """
    where = generator.marks.seeded_in_workers
    if where is None or not project.questions.surely_holds(project.world_of(program), parse(where)):
        return False
    return _is_wrapped(project, program) or any(
        has_workers(loading) or not loading.is_plain for loading in loadings(project, program)
    )


def _is_wrapped(project: Project, program: Program) -> bool:
    """Whether something else gets a number of workers: a loader that the project derives from a
    known one, or that of another library.
    """
    counts = {loader.workers for loader in project.vocabulary.loaders.values()}
    for facts in program.files.values():
        for call in facts.called:
            if not counts.isdisjoint(call.asked):
                return True
    return False


def runs_in_workers(program: Program, facts: FileFacts, scope: int) -> bool:
    """Whether a scope is a method that workers call, or only such methods call it."""
    function = facts.scopes[scope]
    last = function.name.rpartition(".")[2]
    if facts.scopes[max(function.parent, 0)].kind == "class" and last in _IN_WORKERS:
        return True
    return _called_in_workers(program, last, frozenset((last,)))


def _called_in_workers(program: Program, name: str, seen: frozenset[str]) -> bool:
    """Whether all that calls a name is a method that workers call, or called so itself."""
    callers: set[str] = set()
    for facts in program.files.values():
        for call in facts.called:
            if call.name == name:
                callers.add(facts.scopes[call.scope].name.rpartition(".")[2])
    callers -= seen
    return bool(callers) and all(
        caller in _IN_WORKERS or (caller and _called_in_workers(program, caller, seen | callers))
        for caller in callers
    )


def starts_worker(project: Project, program: Program, path: str, call: WrittenCall) -> bool:
    """Whether a call is made only where a worker of a loader starts: in its ``worker_init_fn``, or
    a function whose name says so.
    """
    function = program.files[path].scopes[call.scope].name.rpartition(".")[2]
    if "worker" in function.lower():
        return True
    for loading in loadings(project, program):
        start = loading.argument(loading.loader.starts_worker)
        if start and start.rpartition(".")[2] in (function, call.in_lambda):
            return True
        inside = loading.path == path and _encloses(loading.call.place, call.place)
        if inside and loading.call is not call:
            return True
    return False


def _encloses(outer: Spot, inner: Spot) -> bool:
    first, last = (outer.line, outer.column), (outer.end_line, outer.end_column)
    return first <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= last
