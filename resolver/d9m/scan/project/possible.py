"""Which scopes of a program may run, by the names that others call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from d9m.scan.facts import DYNAMIC, FileFacts, LocalCall
from d9m.scan.project.call_graph import CallGraph, Meaning, Place, last_part
from d9m.scan.project.fitting import fits

_MAIN = ("main",)
"""What a library calls by itself: ``tf.app.run()``."""
_INIT = "__init__"


def possible(
    graph: CallGraph,
    entry: FileFacts,
    files: Mapping[str, FileFacts],
    configured: Collection[str],
    never_runs: Callable[[str, int], bool],
) -> frozenset[Place]:
    """Scopes of these files that may run: also the methods that a library or Python calls, of
    classes that something names which may run. Those of every class that is written anywhere, if a
    name that the text does not show picks one; every function of an entry that starts none of them
    itself, or that calls what runs any of them. `never_runs`: whether a line of a file never runs.
    """
    search = _Search(graph, files, entry.path, never_runs)
    any_of_entry = any(call.name in graph.calls_named for call in entry.calls)
    starts = _starts(graph, entry)
    for path, facts in files.items():
        for place in graph.on_import(path):
            search.add(place)
        for number, scope in enumerate(facts.scopes):
            own = path == entry.path and scope.parent == 0
            if scope.registered or (own and (not starts or scope.name in _MAIN)):
                search.define((path, number))
            elif path == entry.path and any_of_entry:
                search.add((path, number))
    for name in configured:
        search.name(name)
    search.run()
    return frozenset(search.found)


def _starts(graph: CallGraph, entry: FileFacts) -> bool:
    """Whether a file calls what it needs of its own functions when it is run: then nobody else
    calls the others.
    """
    if entry.kind == "notebook":
        return True
    for call in entry.called:
        if call.in_main and call.is_call:
            return True
        own = bool(graph.functions(call.name, (entry.path,)))
        if call.scope == 0 and own and call.is_bare:
            return True
    return False


class _Search:
    """Finds what may run, from what certainly does."""

    def __init__(
        self,
        graph: CallGraph,
        files: Mapping[str, FileFacts],
        entry: str,
        never_runs: Callable[[str, int], bool],
    ) -> None:
        self.found: set[Place] = set()
        self._never_runs = never_runs
        self._graph = graph
        self._files = files
        self._entry = entry
        self._named: set[str] = set()
        self._searched: set[Meaning] = set()
        self._used: set[Place] = set()
        self._todo: list[Place] = []

    def add(self, place: Place) -> None:
        if place not in self.found:
            self.found.add(place)
            self._todo.append(place)

    def run(self) -> None:
        while self._todo:
            place = self._todo.pop()
            for meaning, call in self._graph.own_calls_in(place):
                if meaning in self._searched:
                    continue
                name, home = meaning
                if self._is_made(place[0], call) and self._may_succeed(call, home):
                    self.name(name, home)

    def _is_made(self, path: str, call: LocalCall) -> bool:
        own = not call.in_main or path == self._entry
        return own and not self._never_runs(path, call.line)

    def _may_succeed(self, call: LocalCall, home: str) -> bool:
        """Whether what a call means takes its arguments, if that is one function or class."""
        if not call.is_call or call.has_rest:
            return True
        classes = self._graph.classes(call.name, self._files, home)
        meant: list[Place | None] = [self._graph.maker(one, self._files) for one in classes]
        for path, number in self._graph.functions(call.name, self._files, home):
            if (path, self._files[path].scopes[number].parent) not in classes:
                meant.append((path, number))
        if len(meant) != 1 or meant[0] is None:
            return True
        return self._takes(meant[0], call)

    def _takes(self, place: Place, call: LocalCall) -> bool:
        path, number = place
        scopes = self._files[path].scopes
        return fits(call, scopes[number], scopes[scopes[number].parent].kind == "class")

    def define(self, place: Place) -> None:
        """A class that is used, or a function that is called, somewhere out of sight."""
        if self._graph.is_class(place):
            self._use(place)
        else:
            self.add(place)

    def name(self, name: str, home: str = "") -> None:
        """Classes of this name are used, or functions called, of modules only those in `home`."""
        if (name, home) in self._searched:
            return
        self._searched.add((name, home))
        self._named.add(name)
        if name == DYNAMIC:
            for place in self._graph.classes("", self._files):
                if self._graph.may_be_picked(place):
                    self._use(place)
        for place in self._graph.classes(name, self._files, home):
            self._use(place)
        for path, number in self._graph.functions(name, self._files, home):
            parent = (path, self._files[path].scopes[number].parent)
            if parent in self._used or not self._graph.is_class(parent):
                self.add((path, number))

    def _use(self, place: Place) -> None:
        if place in self._used or not self._can_be_made(place):
            return
        self._used.add(place)
        path, number = place
        scopes = self._files[path].scopes
        hooks = self._graph.hooks_of(place)
        for method in self._graph.methods(place):
            name = last_part(scopes[method].name)
            called = hooks is None or name in hooks or name.startswith("__")
            if called or name in self._named:
                self.add((path, method))
        for base in scopes[number].bases:
            self.name(last_part(base))

    def _can_be_made(self, place: Place) -> bool:
        """Whether the ``__init__`` of a class gives that of its only base what it takes."""
        own = self._graph.inits(place)
        above = self._graph.only_base(place, self._files)
        made_by = self._graph.maker(above, self._files) if above is not None else None
        if len(own) != 1 or made_by is None:
            return True
        for call in self._graph.called_in(own[0]):
            if call.name == _INIT and not self._takes(made_by, call):
                return False
        return True
