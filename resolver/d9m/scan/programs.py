"""The programs of a project: an entry file, what it reaches, and what of that is surely run."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from d9m.scan.effects import Effect
from d9m.scan.facts import FileFacts, LocalCall, WrittenCall
from d9m.scan.modules import Modules
from d9m.scan.vocabulary import Marks

_OWN = ("self", "cls")
"""The first parameter of a method, which a call does not give."""

Place: TypeAlias = tuple[str, int]
"""A scope: path of its file, and its number there."""


class CallGraph:
    """Which scopes of a project's files call which, by name."""

    def __init__(self, files: Iterable[FileFacts]) -> None:
        self._functions: dict[str, dict[str, list[Place]]] = {}
        """Name -> file -> the functions of that name."""
        self._modules: dict[str, list[Place]] = {}
        """File -> what runs once it is imported: module code, and the bodies of classes."""
        self._files: dict[str, FileFacts] = {}
        self._calls: dict[str, dict[int, list[LocalCall]]] = {}
        """Of the files that something reaches: number of a scope -> what it calls."""
        for facts in files:
            self._files[facts.path] = facts
            modules = self._modules.setdefault(facts.path, [])
            for number, scope in enumerate(facts.scopes):
                place = (facts.path, number)
                if scope.kind == "function":
                    by_file = self._functions.setdefault(_called_as(scope.name), {})
                    by_file.setdefault(facts.path, []).append(place)
                else:
                    modules.append(place)

    def _called_in(self, place: Place) -> Sequence[LocalCall]:
        path, scope = place
        if path not in self._calls:
            calls: dict[int, list[LocalCall]] = {}
            for call in self._files[path].called:
                calls.setdefault(call.scope, []).append(call)
            self._calls[path] = calls
        return self._calls[path].get(scope, ())

    def _called_by(self, name: str, paths: Collection[str]) -> list[Place]:
        """The functions of these files that a name can mean."""
        by_file = self._functions.get(name, {})
        found: list[Place] = []
        for path in by_file if len(by_file) < len(paths) else paths:
            if path in by_file and path in paths:
                found += by_file[path]
        return found

    def live(
        self, entry: str, paths: Collection[str], surely: bool = False
    ) -> tuple[frozenset[Place], dict[str, list[LocalCall]]]:
        """Scopes of these files that run: module code, and every function whose name is called
        from one that runs; and the calls, by name.

        Under ``if __name__ == "__main__"`` only the entry runs. `surely`: calls that depend on a
        test do not count.
        """
        found: set[Place] = set()
        called: dict[str, list[LocalCall]] = {}
        todo: list[Place] = []
        for path in paths:
            todo += self._modules[path]
        while todo:
            place = todo.pop()
            if place in found:
                continue
            found.add(place)
            for call in self._called_in(place):
                if (surely and call.is_optional) or (call.in_main and place[0] != entry):
                    continue
                if call.name not in called:
                    todo += self._called_by(call.name, paths)
                called.setdefault(call.name, []).append(call)
        return frozenset(found), called


def _called_as(name: str) -> str:
    """The name by which a function is called: its class's, if Python calls it (``__init__``)."""
    *outer, last = name.split(".")
    if last.startswith("__") and outer:
        return outer[-1]
    return last


def _may_be_called(facts: FileFacts, scope: int) -> bool:
    """Whether a scope is a method that Python may call, or the library whose class it extends."""
    function = facts.scopes[scope]
    around = facts.scopes[max(function.parent, 0)]
    if around.kind != "class":
        return False
    return function.name.rpartition(".")[2].startswith("__") or bool(around.bases)


class Program:
    """One program, and the settings that it makes."""

    def __init__(
        self,
        entry: FileFacts,
        files: Sequence[FileFacts],
        near: Collection[str],
        calls: CallGraph,
    ) -> None:
        self.path = entry.path
        self.entry = entry
        self.files = {facts.path: facts for facts in files}
        """Those that it reaches, itself included."""
        self.near = frozenset(near)
        """Those whose draws count: itself, its folder, and what it imports directly."""
        self._calls = calls
        self._live, self._asked = calls.live(entry.path, self.files)
        self.effects: tuple[Effect, ...] = ()
        """Settings that it makes for sure."""

    def runs(self, path: str, scope: int) -> bool:
        """Whether a scope of a file is module code, or called by name from what runs."""
        return (path, scope) in self._live

    def may_run(self, path: str, call: WrittenCall) -> bool:
        """Whether a call of a file is made: in code that runs, or in a method that something else
        than the project's own code may call.
        """
        if call.in_main and path != self.path:
            return False
        return self.runs(path, call.scope) or _may_be_called(self.files[path], call.scope)

    def surely_runs(self, path: str, scope: int) -> bool:
        """Whether it runs in every run: no test of something else decides that it is called."""
        return (path, scope) in self._sure

    @functools.cached_property
    def _sure(self) -> frozenset[Place]:
        return self._calls.live(self.path, self.files, surely=True)[0]

    def asks(self, path: str, scope: int, parameter: str) -> bool:
        """Whether some call of that function asks for what a parameter offers."""
        if path not in self.files:
            return False
        function = self.files[path].scopes[scope]
        named = [each for each, _default in function.parameters]
        place = named.index(parameter) - (named[0] in _OWN)
        names = {function.name.rpartition(".")[2], _called_as(function.name)}
        for name in names:
            for call in self._asked.get(name, ()):
                if parameter in call.asked or call.positional > place:
                    return True
        return False

    def makes(self, effect: Effect) -> bool:
        if not self.runs(effect.path, effect.scope):
            return False
        return not effect.offered or self.asks(effect.path, effect.scope, effect.offered)


def find_programs(
    files: Mapping[str, FileFacts],
    entry_points: Sequence[str],
    trains: Marks,
    imports_named: Marks,
) -> list[Program]:
    """The programs among the files, in order of path."""
    python = {path: facts for path, facts in files.items() if facts.kind in ("python", "notebook")}
    modules, calls = Modules(python), CallGraph(python.values())
    imported = {path: modules.imported(facts) for path, facts in python.items()}
    launched = _launched(files, python, modules)
    found: list[Program] = []
    for path, facts in python.items():
        is_entry = (
            facts.is_entry
            or facts.kind == "notebook"
            or path in launched
            or path in entry_points
            or any(call.scope == 0 and call.name in trains for call in facts.calls)
        )
        if is_entry:
            reached = _reached(path, imported)
            direct = set(imported[path])
            calls_in = (call for other in (path, *imported[path]) for call in python[other].calls)
            if any(call.name in imports_named for call in calls_in):
                direct = {*imported[path], *_configured(files, modules, path)}
                reached = _reached(path, {**imported, path: sorted(direct)})
            near = {path, *direct}
            folder = path.rpartition("/")[0]
            near.update(other for other in reached if other.rpartition("/")[0] == folder)
            found.append(Program(facts, [python[other] for other in reached], near, calls))
    return found


def _configured(files: Mapping[str, FileFacts], modules: Modules, entry: str) -> set[str]:
    """Files that the configurations nearest to an entry name: those in its folder or below it,
    else in the folder above, and so on.
    """
    folder = entry
    found: set[str] = set()
    while folder and not found:
        folder = folder.rpartition("/")[0]
        below = f"{folder}/" if folder else ""
        for path, facts in files.items():
            if facts.named and path.startswith(below):
                found.update(filter(None, (modules.holding(entry, name) for name in facts.named)))
    return found - {entry}


def _reached(path: str, imported: Mapping[str, Sequence[str]]) -> list[str]:
    found: set[str] = set()
    todo = [path]
    while todo:
        each = todo.pop()
        if each not in found:
            found.add(each)
            todo += imported[each]
    return sorted(found)


def _launched(
    files: Mapping[str, FileFacts], python: Mapping[str, FileFacts], modules: Modules
) -> frozenset[str]:
    """Files that a command of a job file runs."""
    found: set[str] = set()
    for facts in files.values():
        for launch in facts.launches:
            if launch.path:
                name = launch.path.removeprefix("./")
                found.update(path for path in python if path == name or path.endswith(f"/{name}"))
            elif launch.module:
                found.update(modules.named(facts.path, launch.module))
    return frozenset(found)
