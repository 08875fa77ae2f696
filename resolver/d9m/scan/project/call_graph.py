"""Which scopes of a project call which, and what of it a program runs."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from d9m.scan.facts import DYNAMIC, FileFacts, Guard, LocalCall, Predicate
from d9m.scan.project.modules import Modules
from d9m.scan.vocabulary import Vocabulary

NO_FILE = "/"
"""In place of a file: no function of a module is meant, but a method."""
_DEEPEST = 3
"""How many files an import is followed through."""

Place: TypeAlias = tuple[str, int]
"""A scope: path of its file, and its number there."""
Meaning: TypeAlias = tuple[str, str]
"""A name, and the only file whose own function or class it can mean: see `CallGraph.home`."""


class ScopeSet:
    """A set of scopes that takes one bit for each scope of the project: a project may have
    hundreds of programs, each of which runs most of one library.
    """

    def __init__(self, numbers: Mapping[Place, int], places: Iterable[Place]) -> None:
        self._numbers = numbers
        bits = bytearray(len(numbers) // 8 + 1)
        for place in places:
            number = numbers[place]
            bits[number >> 3] |= 1 << (number & 7)
        self._bits = bytes(bits)

    def __contains__(self, place: Place) -> bool:
        number = self._numbers.get(place)
        return number is not None and bool(self._bits[number >> 3] >> (number & 7) & 1)


class CallGraph:
    """Which scopes of a project's files call which, by name."""

    def __init__(
        self,
        files: Iterable[FileFacts],
        modules: Modules,
        vocabulary: Vocabulary,
        written: Collection[str] = (),
    ) -> None:
        """`written`: words in texts, configurations and documents, among them the names of what
        the program picks as it runs.
        """
        self._imports = modules
        self._written = written
        self._picked: dict[str, bool] = {}
        """Folder -> whether something that it defines is written anywhere."""
        self._guards: dict[str, dict[int, list[Guard]]] = {}
        self.calls_named = vocabulary.calls_named
        """Calls that run a function of any name."""
        self._hooks = vocabulary.hooks
        """Classes of libraries whose code calls only these methods, and Python's own."""
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
        self._own_calls: dict[Place, list[tuple[Meaning, LocalCall]]] = {}
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

    def packed(self, places: Iterable[Place]) -> ScopeSet:
        """A set of scopes to keep for each program."""
        return ScopeSet(self._numbers, places)

    @functools.cached_property
    def _numbers(self) -> dict[Place, int]:
        """A number for every scope of the project."""
        found: dict[Place, int] = {}
        for path, facts in self._files.items():
            for scope in range(len(facts.scopes)):
                found[path, scope] = len(found)
        return found

    def calls_of(self, name: str) -> Sequence[tuple[str, LocalCall]]:
        """Every call of a name in the project, and every place that hands it on, with its file."""
        return self._by_name.get(name, ())

    @functools.cached_property
    def _by_name(self) -> dict[str, list[tuple[str, LocalCall]]]:
        found: dict[str, list[tuple[str, LocalCall]]] = {}
        for path, facts in self._files.items():
            for call in facts.called:
                found.setdefault(call.name, []).append((path, call))
        return found

    def set_elsewhere(self, name: str) -> Sequence[str]:
        """The files that set an attribute of something which is not the object itself."""
        return self._set_elsewhere.get(name, ())

    @functools.cached_property
    def _set_elsewhere(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, facts in self._files.items():
            for attribute in facts.attributes:
                if attribute.scope == 0:
                    found.setdefault(attribute.name, []).append(path)
        return found

    def called_in(self, place: Place) -> Sequence[LocalCall]:
        path, scope = place
        if path not in self._calls:
            calls: dict[int, list[LocalCall]] = {}
            for call in self._files[path].called:
                calls.setdefault(call.scope, []).append(call)
            self._calls[path] = calls
        return self._calls[path].get(scope, ())

    def own_calls_in(self, place: Place) -> Sequence[tuple[Meaning, LocalCall]]:
        """What a scope calls of that which the project may define, each with what it can mean:
        other calls lead nowhere.
        """
        if place not in self._own_calls:
            found: list[tuple[Meaning, LocalCall]] = []
            for call in self.called_in(place):
                name = call.name
                if name in self._functions or name in self._classes or name == DYNAMIC:
                    found.append(((name, self.home(call, place[0])), call))
            self._own_calls[place] = found
        return self._own_calls[place]

    def on_import(self, path: str) -> Sequence[Place]:
        """What runs once a file is imported."""
        return self._modules[path]

    def may_be_picked(self, place: Place) -> bool:
        """Whether a name that only the run decides may mean a class or function: its own is
        written somewhere, or none that its folder defines.
        """
        path, number = place
        if last_part(self._files[path].scopes[number].name) in self._written:
            return True
        folder = path.rpartition("/")[0]
        if folder not in self._picked:
            self._picked[folder] = any(self._defined_in(folder))
        return not self._picked[folder]

    def _defined_in(self, folder: str) -> Iterator[bool]:
        for path, facts in self._files.items():
            if path.rpartition("/")[0] == folder:
                for scope in facts.scopes:
                    yield scope.parent == 0 and scope.name in self._written

    def maker(self, place: Place, paths: Collection[str]) -> Place | None:
        """The ``__init__`` of a class, or of its only base; None where that is not sure."""
        seen: set[Place] = set()
        at: Place | None = place
        while at is not None and at not in seen:
            seen.add(at)
            own = self.inits(at)
            if own:
                return own[0] if len(own) == 1 else None
            at = self.only_base(at, paths)
        return None

    def inits(self, place: Place) -> list[Place]:
        """The ``__init__`` that a class defines itself: more than one under tests."""
        path, _number = place
        scopes = self._files[path].scopes
        own = [each for each in self.methods(place) if last_part(scopes[each].name) == "__init__"]
        return [(path, number) for number in own]

    def only_base(self, place: Place, paths: Collection[str]) -> Place | None:
        """The only base of a class, if these files define one class of its name."""
        path, number = place
        bases = self._files[path].scopes[number].bases
        above = self.classes(last_part(bases[0]), paths) if len(bases) == 1 else []
        return above[0] if len(above) == 1 else None

    def guards(self, path: str) -> Mapping[int, Sequence[Guard]]:
        """The guarded pieces of a file, by each line that they cover."""
        if path not in self._guards:
            found: dict[int, list[Guard]] = {}
            for guard in self._files[path].guards:
                for line in range(guard.place.line, guard.place.end_line + 1):
                    found.setdefault(line, []).append(guard)
            self._guards[path] = found
        return self._guards[path]

    def guarded_by(self, path: str, scope: int, subject: str) -> Iterator[Predicate]:
        """What the tests in a scope of a file ask of a name."""
        for guard in self._files[path].guards:
            if guard.scope == scope:
                yield from (one for one in guard.predicates if one.subject == subject)

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
        todo = [name]
        while todo:
            for path, other in self._heirs.get(todo.pop(), ()):
                if path in paths and other not in found:
                    found.add(other)
                    todo.append(other)
        return frozenset(found)

    @functools.cached_property
    def _heirs(self) -> dict[str, list[tuple[str, str]]]:
        """Name of a class -> the classes that derive from it, each with its file."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, places in self._classes.items():
            for path, number in places:
                for base in self._files[path].scopes[number].bases:
                    found.setdefault(last_part(base), []).append((path, name))
        return found

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

    def live(self, entry: str, paths: Collection[str], surely: bool = False) -> frozenset[Place]:
        """Scopes of these files that run: module code, and every function whose name is called
        from one that runs.

        Under ``if __name__ == "__main__"`` only the entry runs. `surely`: calls that depend on a
        test do not count.
        """
        found: set[Place] = set()
        searched: set[Meaning] = set()
        todo: list[Place] = []
        for path in paths:
            todo += self._modules[path]
        while todo:
            place = todo.pop()
            if place in found:
                continue
            found.add(place)
            for meaning, call in self.own_calls_in(place):
                if (surely and call.is_optional) or (call.in_main and place[0] != entry):
                    continue
                if meaning not in searched:
                    searched.add(meaning)
                    name, home = meaning
                    todo += self.functions(name, paths, home)
        return frozenset(found)


def last_part(name: str) -> str:
    return name.rpartition(".")[2].lstrip(":")


def called_as(name: str) -> str:
    """The name by which a function is called: its class's, if Python calls it (``__init__``)."""
    *outer, last = name.split(".")
    if last.startswith("__") and last.endswith("__") and outer:
        return outer[-1]
    return last
