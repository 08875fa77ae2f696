"""Loaders of data: the calls that make them, and what runs in their workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from d9m.model.code_marks import Loader
from d9m.model.when import parse
from d9m.scan.facts import FileFacts, LocalCall, WrittenCall, class_around
from d9m.scan.finding import Spot
from d9m.scan.project.call_graph import Place, last_part
from d9m.scan.project.knowledge import Generator
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project

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
            if loader is not None and program.may_run(path, call):
                yield LoaderCall(path, call, loader)


def has_workers(program: Program, loading: LoaderCall) -> bool:
    """Whether a loader starts processes, as far as the text says: an option of the program that
    gives their number may be zero unless somebody says otherwise.
    """
    given = loading.argument(loading.loader.workers)
    if given in ("", "0", "None"):
        return False
    named = given.rpartition(".")[2]
    defaults: set[str] = set()
    for facts in program.files.values():
        defaults.update(option.default for option in facts.options if option.name == named)
    return defaults != {"0"}


def surely_has_workers(program: Program, loading: LoaderCall) -> bool:
    """Whether the text says how many processes a loader starts: a number, or an option or parameter
    that is one, unless somebody says otherwise.
    """
    given = loading.argument(loading.loader.workers)
    counts: Sequence[str] | None = (given,)
    if not given.isdigit():
        counts = program.literals(loading.path, loading.call.scope, given)
    return bool(counts) and all(count.isdigit() and int(count) > 0 for count in counts)


def seeded_by_workers(project: Project, program: Program, generator: Generator) -> bool:
    """Whether workers of the program's loaders seed a generator, and from a fixed number: that of
    their own library, which `program` seeds. A loader whose arguments are unpacked may have some.
    """
    where = generator.marks.seeded_in_workers
    if where is None or not project.questions.surely_holds(project.world_of(program), parse(where)):
        return False
    known = tuple(loadings(project, program))
    return _is_wrapped(project, program, known) or any(
        has_workers(program, loading) or not loading.is_plain for loading in known
    )


def _is_wrapped(project: Project, program: Program, known: Sequence[LoaderCall]) -> bool:
    """Whether something else gets a number of workers: a loader that the project derives from a
    known one, or that of another library.
    """
    counts = {loader.workers for loader in project.vocabulary.loaders.values()}
    own = {(one.path, one.call.place.line, last_part(one.call.name)) for one in known}
    for path, facts in program.files.items():
        for call in facts.called:
            if counts.isdisjoint(call.asked):
                continue
            if (path, call.line, call.name) not in own:
                return True
    return False


def batch_makers(project: Project, program: Program) -> frozenset[str]:
    """Names of the functions that make batches for the program's loaders, in their workers."""
    found: set[str] = set()
    for loading in loadings(project, program):
        found.add(loading.argument(loading.loader.batches).rpartition(".")[2])
    return frozenset(found - {""})


def runs_in_workers(
    program: Program, facts: FileFacts, scope: int, batches: frozenset[str]
) -> bool:
    """Whether a scope is a method that workers call, or makes their batches, or only such functions
    call it; or a function in another one that is only handed on, as to the steps of a dataset.
    `batches`: those of `batch_makers`.
    """
    return _runs_in_workers(program, (facts.path, scope), batches, frozenset())


def _runs_in_workers(
    program: Program, place: Place, batches: frozenset[str], seen: frozenset[Place]
) -> bool:
    if _is_called_by_worker(program, place) or _name_of(program, place) in batches:
        return True
    calls = tuple(_calls(program, place))
    if calls and all(call.in_step for _path, call in calls):
        return True
    if _is_inner(program, place) and calls and not any(call.is_call for _path, call in calls):
        return True
    callers = {(path, call.scope) for path, call in calls} - {place}
    known = seen | {place, *callers}
    return bool(callers) and all(
        one in seen or _runs_in_workers(program, one, batches, known) for one in callers
    )


def _name_of(program: Program, place: Place) -> str:
    path, scope = place
    return last_part(program.files[path].scopes[scope].name)


def _is_called_by_worker(program: Program, place: Place) -> bool:
    path, scope = place
    scopes = program.files[path].scopes
    in_class = scopes[max(scopes[scope].parent, 0)].kind == "class"
    return in_class and _name_of(program, place) in _IN_WORKERS


def _is_inner(program: Program, place: Place) -> bool:
    """Whether a function is defined in another one."""
    path, scope = place
    scopes = program.files[path].scopes
    return scopes[max(scopes[scope].parent, 0)].kind == "function"


def _calls(program: Program, place: Place) -> Iterator[tuple[str, LocalCall]]:
    """Calls of a function by its name, or that hand it on, with their file. A class that has a
    method of this name itself means that one.
    """
    path, scope = place
    function = program.files[path].scopes[scope]
    name = last_part(function.name)
    for other, facts in program.files.items():
        holders = {
            each.parent
            for each in facts.scopes
            if each.kind == "function" and last_part(each.name) == name
        }
        for call in facts.called:
            if call.name != name:
                continue
            owner = class_around(facts.scopes, call.scope)
            own = (other, owner) == (path, function.parent)
            if own or not owner or owner not in holders:
                yield other, call


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
