"""The programs of a project: an entry file, what it reaches, and what of that is surely run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from d9m.scan.effects import Effect
from d9m.scan.facts import FileFacts, LocalCall
from d9m.scan.modules import Modules
from d9m.scan.vocabulary import Marks


class Program:
    """One program, and the settings that it makes."""

    def __init__(self, entry: FileFacts, files: Sequence[FileFacts], near: Collection[str]) -> None:
        self.path = entry.path
        self.entry = entry
        self.files = {facts.path: facts for facts in files}
        """Those that it reaches, itself included."""
        self.near = frozenset(near)
        """Those whose draws count: itself, its folder, and what it imports directly."""
        self._live, self._asked = _live(files)
        self.effects: tuple[Effect, ...] = ()
        """Settings that it makes for sure."""

    def runs(self, path: str, scope: int) -> bool:
        """Whether a scope of a file is module code, or called by name from what runs."""
        return (path, scope) in self._live

    def asks(self, path: str, scope: int, parameter: str) -> bool:
        """Whether some call of that function asks for what a parameter offers."""
        if path not in self.files:
            return False
        function = self.files[path].scopes[scope]
        name = function.name.rpartition(".")[2]
        place = [each for each, _default in function.parameters].index(parameter)
        return any(
            parameter in call.asked or call.positional > place for call in self._asked.get(name, ())
        )

    def makes(self, effect: Effect) -> bool:
        if not self.runs(effect.path, effect.scope):
            return False
        return not effect.offered or self.asks(effect.path, effect.scope, effect.offered)


def _live(
    files: Sequence[FileFacts],
) -> tuple[frozenset[tuple[str, int]], dict[str, list[LocalCall]]]:
    """Scopes that run: module code, and every function whose name is called from one that runs."""
    by_name: dict[str, list[tuple[str, int]]] = {}
    calls: dict[tuple[str, int], list[LocalCall]] = {}
    todo: list[tuple[str, int]] = []
    for facts in files:
        for number, scope in enumerate(facts.scopes):
            if scope.kind != "function":
                todo.append((facts.path, number))
                continue
            name = scope.name.rpartition(".")[2]
            if name in ("__init__", "__new__", "__post_init__"):
                name = scope.name.split(".")[-2] if "." in scope.name else name
            by_name.setdefault(name, []).append((facts.path, number))
        for call in facts.called:
            calls.setdefault((facts.path, call.scope), []).append(call)
    live: set[tuple[str, int]] = set()
    asked: dict[str, list[LocalCall]] = {}
    while todo:
        place = todo.pop()
        if place in live:
            continue
        live.add(place)
        for call in calls.get(place, ()):
            if call.name not in asked:
                todo += by_name.get(call.name, ())
            asked.setdefault(call.name, []).append(call)
    return frozenset(live), asked


def find_programs(
    files: Mapping[str, FileFacts], entry_points: Sequence[str], trains: Marks
) -> list[Program]:
    """The programs among the files, in order of path."""
    python = {path: facts for path, facts in files.items() if facts.kind in ("python", "notebook")}
    modules = Modules(python)
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
            near = {path, *imported[path]}
            folder = path.rpartition("/")[0]
            near.update(each for each in reached if each.rpartition("/")[0] == folder)
            found.append(Program(facts, [python[each] for each in reached], near))
    return found


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
