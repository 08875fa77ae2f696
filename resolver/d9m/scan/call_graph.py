"""Which scopes of a project call which, and what of it a program runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from d9m.scan.facts import DYNAMIC, FileFacts, LocalCall
from d9m.scan.modules import Modules
from d9m.scan.vocabulary import Vocabulary

_MAIN = ("main",)
"""What a library calls by itself: ``tf.app.run()``."""
NO_FILE = "/"
"""In place of a file: no function of a module is meant, but a method."""
_DEEPEST = 3
"""How many files an import is followed through."""

Place: TypeAlias = tuple[str, int]
"""A scope: path of its file, and its number there."""


class CallGraph:
    """Which scopes of a project's files call which, by name."""

    def __init__(
        self, files: Iterable[FileFacts], modules: Modules, vocabulary: Vocabulary
    ) -> None:
        self._imports = modules
        self._hooks = vocabulary.hooks
        """Classes of libraries whose code calls only these methods, and Python's own."""
        self._calls_named = vocabulary.calls_named
        self._homes: dict[tuple[str, str], str] = {}
        self._classes: dict[str, list[Place]] = {}
        """Name -> the classes of that name."""
        self._members: dict[Place, list[int]] = {}
        """Class -> its methods."""
        self._functions: dict[str, dict[str, list[Place]]] = {}
        """Name -> file -> the functions of that name."""
        self._modules: dict[str, list[Place]] = {}
        """File -> what runs once it is imported: module code, and the bodies of classes."""
        self._files: dict[str, FileFacts] = {}
        self._calls: dict[str, dict[int, list[LocalCall]]] = {}
        """Of the files that something reaches: number of a scope -> what it calls."""
        for facts in files:
            self._files[facts.path] = facts
            run_on_import = self._modules.setdefault(facts.path, [])
            for number, scope in enumerate(facts.scopes):
                place = (facts.path, number)
                if scope.kind == "function":
                    by_file = self._functions.setdefault(called_as(scope.name), {})
                    by_file.setdefault(facts.path, []).append(place)
                    if facts.scopes[scope.parent].kind == "class":
                        self._members.setdefault((facts.path, scope.parent), []).append(number)
                else:
                    run_on_import.append(place)
                if scope.kind == "class":
                    self._classes.setdefault(last_part(scope.name), []).append(place)

    def possible(
        self, entry: FileFacts, files: Mapping[str, FileFacts], configured: Collection[str]
    ) -> frozenset[Place]:
        """Scopes of these files that may run: also the methods that a library or Python calls, of
        classes that something names which may run. Those of every class, if a name that the text
        does not show picks one; every function of an entry that starts none of them itself, or
        that calls what runs any of them.
        """
        search = _Search(self, files, entry.path)
        any_of_entry = any(call.name in self._calls_named for call in entry.calls)
        starts = self._starts(entry)
        for path, facts in files.items():
            for place in self._modules[path]:
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

    def _starts(self, entry: FileFacts) -> bool:
        """Whether a file calls what it needs of its own functions when it is run: then nobody
        else calls the others.
        """
        if entry.kind == "notebook":
            return True
        for call in entry.called:
            if call.in_main and call.is_call:
                return True
            own = entry.path in self._functions.get(call.name, ())
            if call.scope == 0 and own and call.is_bare:
                return True
        return False

    def called_in(self, place: Place) -> Sequence[LocalCall]:
        path, scope = place
        if path not in self._calls:
            calls: dict[int, list[LocalCall]] = {}
            for call in self._files[path].called:
                calls.setdefault(call.scope, []).append(call)
            self._calls[path] = calls
        return self._calls[path].get(scope, ())

    def is_class(self, place: Place) -> bool:
        path, number = place
        return number > 0 and self._files[path].scopes[number].kind == "class"

    def hooks_of(self, place: Place) -> frozenset[str] | None:
        """The methods of a class that its bases call of their own accord; None for any: a base is
        out of sight.
        """
        path, number = place
        found: set[str] = set()
        seen: set[str] = set()
        todo = [*self._files[path].scopes[number].bases]
        while todo:
            base = todo.pop()
            if base in seen:
                continue
            seen.add(base)
            own = self._classes.get(last_part(base))
            if base in self._hooks:
                found.update(self._hooks[base])
            elif own is not None:
                for home, scope in own:
                    todo += self._files[home].scopes[scope].bases
            else:
                return None
        return frozenset(found)

    def methods(self, place: Place) -> Sequence[int]:
        return self._members.get(place, ())

    def derived(self, name: str, paths: Collection[str]) -> frozenset[str]:
        """The name of a class of these files, and those of the classes that derive from it."""
        found = {name}
        grows = True
        while grows:
            before = len(found)
            for other, places in self._classes.items():
                for path, number in places:
                    bases = map(last_part, self._files[path].scopes[number].bases)
                    if path in paths and not found.isdisjoint(bases):
                        found.add(other)
            grows = len(found) > before
        return frozenset(found)

    def classes(self, name: str, paths: Collection[str], home: str = "") -> list[Place]:
        """The classes of these files that a name can mean: in `home` alone, if that is a file.
        Without a name, all.
        """
        known = [name] if name else self._classes
        found: list[Place] = []
        for one in known:
            for place in self._classes.get(one, ()):
                if place[0] in paths and home in ("", NO_FILE, place[0]):
                    found.append(place)
        return found

    def home(self, call: LocalCall, caller: str) -> str:
        """The only file whose own function or class a call can mean: the caller's, if it has one of
        that name, or the one that it is imported from. `NO_FILE` for a method; empty if the text
        does not show it.
        """
        if call.of_object:
            return NO_FILE
        return self._home(call.name, caller, 0) if call.is_bare else ""

    def _home(self, name: str, path: str, depth: int) -> str:
        if (path, name) not in self._homes:
            if self._defines(path, name):
                self._homes[path, name] = path
            else:
                self._homes[path, name] = self._imported_from(name, path, depth)
        return self._homes[path, name]

    def _imported_from(self, name: str, path: str, depth: int) -> str:
        """The file that defines what another one imports by name; empty if that is not sure."""
        found: set[str] = set()
        for statement in self._files[path].imports if depth < _DEEPEST else ():
            if statement.name == name:
                module = self._imports.importable(path, statement.module)
                found.add(self._home(name, module, depth + 1) if module is not None else "")
        return found.pop() if len(found) == 1 else ""

    def _defines(self, path: str, name: str) -> bool:
        """Whether the module code of a file defines a function or class of a name."""
        places = (*self._functions.get(name, {}).get(path, ()), *self._classes.get(name, ()))
        return any(place[0] == path and self._is_of_module(place) for place in places)

    def _is_of_module(self, place: Place) -> bool:
        path, number = place
        return self._files[path].scopes[number].parent == 0

    def functions(self, name: str, paths: Collection[str], home: str = "") -> list[Place]:
        """The functions of these files that a name can mean: in `home` alone, if that is a file;
        with `NO_FILE` only methods.
        """
        by_file = self._functions.get(name, {})
        found: list[Place] = []
        for path in by_file if len(by_file) < len(paths) else paths:
            if path not in by_file or path not in paths or home not in ("", NO_FILE, path):
                continue
            for place in by_file[path]:
                if home != NO_FILE or not self._is_of_module(place):
                    found.append(place)
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
        searched: set[tuple[str, str]] = set()
        todo: list[Place] = []
        for path in paths:
            todo += self._modules[path]
        while todo:
            place = todo.pop()
            if place in found:
                continue
            found.add(place)
            for call in self.called_in(place):
                if (surely and call.is_optional) or (call.in_main and place[0] != entry):
                    continue
                home = self.home(call, place[0])
                if (call.name, home) not in searched:
                    searched.add((call.name, home))
                    todo += self.functions(call.name, paths, home)
                called.setdefault(call.name, []).append(call)
        return frozenset(found), called


class _Search:
    """Finds what may run, from what certainly does."""

    def __init__(self, graph: CallGraph, files: Mapping[str, FileFacts], entry: str) -> None:
        self.found: set[Place] = set()
        self._graph = graph
        self._files = files
        self._entry = entry
        self._named: set[str] = set()
        self._searched: set[tuple[str, str]] = set()
        """Names, each with the file whose own function it means."""
        self._used: set[Place] = set()
        self._todo: list[Place] = []

    def add(self, place: Place) -> None:
        if place not in self.found:
            self.found.add(place)
            self._todo.append(place)

    def run(self) -> None:
        while self._todo:
            place = self._todo.pop()
            for call in self._graph.called_in(place):
                if not call.in_main or place[0] == self._entry:
                    self.name(call.name, self._graph.home(call, place[0]))

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
        for place in self._graph.classes("" if name == DYNAMIC else name, self._files, home):
            self._use(place)
        for path, number in self._graph.functions(name, self._files, home):
            parent = (path, self._files[path].scopes[number].parent)
            if parent in self._used or not self._graph.is_class(parent):
                self.add((path, number))

    def _use(self, place: Place) -> None:
        if place in self._used:
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


def last_part(name: str) -> str:
    return name.rpartition(".")[2].lstrip(":")


def called_as(name: str) -> str:
    """The name by which a function is called: its class's, if Python calls it (``__init__``)."""
    *outer, last = name.split(".")
    if last.startswith("__") and outer:
        return outer[-1]
    return last
