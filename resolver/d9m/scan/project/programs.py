"""The programs of a project: an entry file, what it reaches, and what of that is surely run."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence

from d9m.scan.facts import DYNAMIC, OWN, FileFacts, Launch, Order, WrittenCall
from d9m.scan.project.call_graph import CallGraph, Place, ScopeSet, called_as, last_part
from d9m.scan.project.effects import Effect
from d9m.scan.project.known_values import KnownValues
from d9m.scan.project.modules import Modules
from d9m.scan.project.possible import possible
from d9m.scan.vocabulary import Marks, Vocabulary

_TO_REPEAT = re.compile(r"(?i)seed|determin|repro|random_state")
"""Options that somebody gives who wants to repeat a run."""


class Program:
    """One program, and the settings that it makes."""

    def __init__(
        self,
        entry: FileFacts,
        files: Sequence[FileFacts],
        near: Collection[str],
        calls: CallGraph,
        configured: Collection[str] = (),
        turned_on: Collection[str] = (),
        stated: Collection[str] | None = None,
    ) -> None:
        """`configured`: names of classes and functions that its configurations name; `turned_on`:
        options that the project's commands and configurations give; `stated`: values that its
        texts state.
        """
        self.path = entry.path
        self.entry = entry
        self.files = {facts.path: facts for facts in files}
        """Those that it reaches, itself included."""
        self.near = frozenset(near)
        """Those whose draws count: itself, its folder, and what it imports directly."""
        self._calls = calls
        self._configured = configured
        self._values = KnownValues(self.files, calls, configured, {})
        self._turned_on = turned_on
        self._stated = stated
        self._live = calls.packed(calls.live(entry.path, self.files))
        self.launches: tuple[tuple[str, Launch], ...] = ()
        self.collectives: tuple[tuple[str, WrittenCall], ...] = ()
        self.effects: tuple[Effect, ...] = ()
        """Settings that it makes for sure."""

    def runs(self, path: str, scope: int) -> bool:
        """Whether a scope of a file is module code, or called by name from what runs."""
        return (path, scope) in self._live

    def may_run(self, path: str, code: WrittenCall | Order) -> bool:
        """Whether code of a file runs: in code that runs, or in a method that something else
        than the project's own code may call, of a class that the program uses.
        """
        if code.in_main and path != self.path:
            return False
        if self.never_runs(path, code.place.line, code.place.column):
            return False
        return (path, code.scope) in self._possible

    def never_runs(self, path: str, line: int, column: int = 0) -> bool:
        """Whether code of a file stands under a test that every call of its function refuses;
        without a column, all of its line.
        """
        return self._values.never_runs(path, line, column)

    def may_enter(self, place: Place) -> bool:
        """Whether code that runs, or that something else may call, is in a scope."""
        return place in self._possible

    @functools.cached_property
    def _possible(self) -> ScopeSet:
        return self._search(self._values)

    def _search(self, values: KnownValues) -> ScopeSet:
        never = values.never_runs
        return self._calls.packed(
            possible(self._calls, self.entry, self.files, self._configured, never)
        )

    @functools.cached_property
    def _defaults(self) -> KnownValues:
        """The same where nobody gives an option that the project's own commands do not give."""
        options: dict[str, list[str]] = {}
        for facts in self.files.values():
            for option in facts.options:
                options.setdefault(option.name, []).append(option.default)
        left: dict[str, list[str]] = {}
        for name, given in options.items():
            if name not in self._turned_on and not _TO_REPEAT.search(name):
                left[name] = given
        return KnownValues(self.files, self._calls, self._configured, left, self._stated)

    @functools.cached_property
    def _usual(self) -> ScopeSet:
        return self._search(self._defaults)

    def literals(self, path: str, scope: int, name: str) -> Sequence[str] | None:
        """What a name can be in a scope of a file, as written, unless somebody gives an option;
        None for anything.
        """
        return self._defaults.literals(path, scope, name)

    def is_none(self, path: str, scope: int, name: str) -> bool:
        """Whether a parameter is None in every call of its function."""
        return set(self._values.literals(path, scope, name) or ()) == {"None"}

    def usually_runs(self, path: str, scope: int, line: int, column: int = 0) -> bool:
        """Whether a place may run without an option that no command of the project gives."""
        if self._defaults.never_runs(path, line, column):
            return False
        return (path, scope) in self._usual

    def may_pick(self, place: Place) -> bool:
        """Whether a name that only the run decides may pick a function or class of a file."""
        return self._values.picks and self._calls.may_be_picked(place)

    def makes_objects(self, path: str, scope: int) -> bool:
        """Whether code that may run names the class around a scope, or one that derives from it:
        other code than theirs. Outside of a class, always.
        """
        scopes = self.files[path].scopes
        around = scopes[max(scopes[scope].parent, 0)]
        if around.kind != "class":
            return True
        names = self._calls.derived(last_part(around.name), self.files)
        if not names.isdisjoint(self._configured):
            return True
        for other, facts in self.files.items():
            for call in facts.called:
                if call.name not in names and call.name != DYNAMIC:
                    continue
                outer = facts.scopes[max(facts.scopes[call.scope].parent, 0)]
                own = outer.kind == "class" and last_part(outer.name) in names
                if not own and self.may_enter((other, call.scope)):
                    return True
        return False

    def surely_runs(self, path: str, scope: int) -> bool:
        """Whether it runs in every run: no test of something else decides that it is called."""
        return (path, scope) in self._sure

    @functools.cached_property
    def _sure(self) -> ScopeSet:
        return self._calls.packed(self._calls.live(self.path, self.files, surely=True))

    def asks(self, path: str, scope: int, parameter: str) -> bool:
        """Whether some call of that function asks for what a parameter offers; true where nothing
        is offered.
        """
        if not parameter:
            return True
        if path not in self.files:
            return False
        function = self.files[path].scopes[scope]
        if function.opened_by == "decorator":
            return True
        named = [each for each, _default in function.parameters]
        scopes = self.files[path].scopes
        is_method = scopes[function.parent].kind == "class"
        place = named.index(parameter) - (is_method or named[0] in OWN)
        names = {function.name.rpartition(".")[2], called_as(function.name)}
        for name in names:
            for caller, call in self._calls.calls_of(name):
                if not self.runs(caller, call.scope) or (call.in_main and caller != self.path):
                    continue
                if parameter in call.asked or call.positional > place:
                    return True
        return False

    def makes(self, effect: Effect) -> bool:
        if not self.runs(effect.path, effect.scope):
            return False
        if self.never_runs(effect.path, effect.place.line, effect.place.column):
            return False
        return self.asks(effect.path, effect.scope, effect.offered)


def find_programs(
    files: Mapping[str, FileFacts],
    entry_points: Sequence[str],
    vocabulary: Vocabulary,
    modules: Modules,
) -> list[Program]:
    """The programs among the files, in order of path."""
    python = {path: facts for path, facts in files.items() if facts.kind in ("python", "notebook")}
    written = frozenset[str]().union(*(facts.texts for facts in files.values()))
    stated = frozenset[str]().union(*(facts.values for facts in files.values()))
    calls = CallGraph(python.values(), modules, vocabulary, written)
    trains, imports_named = vocabulary.trains, vocabulary.imports_named
    imported = {path: modules.imported(facts) for path, facts in python.items()}
    turned_on = _turned_on(files)
    launched = launched_files(files, python, modules)
    used = {other for others in imported.values() for other in others}
    found: list[Program] = []
    for path, facts in python.items():
        is_entry = (
            facts.is_entry
            or facts.kind == "notebook"
            or path in launched
            or path in entry_points
            or any(call.scope == 0 and call.name in trains for call in facts.calls)
            or (path not in used and _is_script(facts))
            or (path not in used and _trains_when_run(path, python, imported, calls, trains))
        )
        if is_entry:
            reached = _reached(path, imported)
            direct = set(imported[path])
            configured: set[str] = set()
            calls_in = (call for other in (path, *imported[path]) for call in python[other].calls)
            if any(call.name in imports_named for call in calls_in):
                direct = {*imported[path], *_configured(files, modules, path)}
                reached = _reached(path, {**imported, path: sorted(direct)})
                configured = {
                    name.rpartition(".")[2] for other in files.values() for name in other.named
                }
            near = {path, *direct}
            folder = path.rpartition("/")[0]
            near.update(other for other in reached if other.rpartition("/")[0] == folder)
            own = [python[other] for other in reached]
            found.append(Program(facts, own, near, calls, configured, turned_on, stated))
    return found


def _turned_on(files: Mapping[str, FileFacts]) -> frozenset[str]:
    """Options that commands, configurations or a README give."""
    found: set[str] = set()
    for facts in files.values():
        if facts.kind not in ("python", "notebook"):
            found.update(name.removeprefix("--") for name in facts.mentioned)
    return frozenset(found)


def _is_script(facts: FileFacts) -> bool:
    """Whether a file that nothing imports does something when it is run. A call whose value it
    keeps may make what a library has as well, such as a logger. One that puts classes into a
    register is imported by a name that the text does not show.
    """
    if facts.path.endswith("__init__.py") or any(scope.registered for scope in facts.scopes):
        return False
    return any(call.scope == 0 and call.is_statement for call in facts.called)


def _trains_when_run(
    entry: str,
    python: Mapping[str, FileFacts],
    imported: Mapping[str, Sequence[str]],
    calls: CallGraph,
    trains: Marks,
) -> bool:
    """Whether what a file calls outside of its functions trains: ``history = fit(model)``."""
    if not any(call.scope == 0 and call.is_call for call in python[entry].called):
        return False
    live = calls.live(entry, frozenset(_reached(entry, imported)))
    for path in {path for path, _scope in live}:
        for call in python[path].calls:
            if call.name in trains and (path, call.scope) in live and not call.in_main:
                return True
    return False


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


def launched_files(
    files: Mapping[str, FileFacts], python: Mapping[str, FileFacts], modules: Modules
) -> frozenset[str]:
    """Return the files that a command of a job file runs."""
    found: set[str] = set()
    for facts in files.values():
        for launch in facts.launches:
            if launch.path:
                name = launch.path.removeprefix("./")
                found.update(path for path in python if path == name or path.endswith(f"/{name}"))
            elif launch.module:
                found.update(modules.named(facts.path, launch.module))
    return frozenset(found)
