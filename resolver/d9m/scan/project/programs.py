"""The programs of a project: an entry file, and the files that its imports reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from d9m.scan.facts import FileFacts, Launch, WrittenCall
from d9m.scan.project.effects import Effect
from d9m.scan.project.modules import Modules
from d9m.scan.vocabulary import Vocabulary


class Program:
    """One program, and the settings that its files make."""

    def __init__(
        self,
        entry: FileFacts,
        files: Iterable[FileFacts],
        effects: Mapping[str, Sequence[Effect]],
        launches: Sequence[tuple[str, Launch]],
    ) -> None:
        self.path = entry.path
        self.entry = entry
        self.files = {facts.path: facts for facts in files}
        """Those that it reaches, itself included."""
        self.launches = tuple(launches)
        """The commands that start it and no other file, each with its job file."""
        self.effects = tuple(effect for path in self.files for effect in effects[path])

    def calls(self, names: Container[str]) -> Iterator[tuple[str, WrittenCall]]:
        """Yield the calls of some names, each with its file."""
        for path, facts in self.files.items():
            yield from ((path, call) for call in facts.calls if call.name in names)

    def surely_runs(self, path: str, scope: int) -> bool:
        """Whether a scope is module code, or a function that something calls unconditionally."""
        facts = self.files[path]
        if facts.scopes[scope].kind != "function":
            return True
        name = facts.scopes[scope].name.rpartition(".")[2]
        return any(called == name for each in self.files.values() for _at, called in each.called)


def find_programs(
    files: Mapping[str, FileFacts],
    entry_points: Sequence[str],
    vocabulary: Vocabulary,
    modules: Modules,
    effects: Mapping[str, Sequence[Effect]],
) -> list[Program]:
    """Return the programs among the files, in order of path."""
    python = {path: facts for path, facts in files.items() if path in effects}
    imported = {path: modules.imported(facts) for path, facts in python.items()}
    launches = launched_files(files, python, modules)
    starts = Counter(id(launch) for each in launches.values() for _job, launch in each)
    used = {other for others in imported.values() for other in others}
    trains, imports_named = vocabulary.marks("trains"), vocabulary.marks("imports_named")
    found: list[Program] = []
    for path, facts in python.items():
        if not (
            facts.is_entry
            or facts.kind == "notebook"
            or path in launches
            or path in entry_points
            or any(call.scope == 0 and call.name in trains for call in facts.calls)
            or (path not in used and facts.is_script and not path.endswith("__init__.py"))
        ):
            continue
        start = {path}
        near = (call for each in (path, *imported[path]) for call in python[each].calls)
        if any(call.name in imports_named for call in near):
            start |= _configured(files, modules, path)
        reached = _reached(start, imported)
        own = [python[other] for other in reached]
        sure = [each for each in launches.get(path, ()) if starts[id(each[1])] == 1]
        found.append(Program(facts, own, effects, sure))
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
    return found


def _reached(start: Iterable[str], imported: Mapping[str, Sequence[str]]) -> list[str]:
    found: set[str] = set()
    todo = [*start]
    while todo:
        each = todo.pop()
        if each not in found:
            found.add(each)
            todo += imported[each]
    return sorted(found)


def _ending(paths: Iterable[str], name: str) -> list[str]:
    return [path for path in paths if f"/{path}".endswith(f"/{name}")]


def launched_files(
    files: Mapping[str, FileFacts], python: Mapping[str, FileFacts], modules: Modules
) -> dict[str, list[tuple[str, Launch]]]:
    """Return the files that commands of job files may run, each with those commands: the file of
    that name beside the job or below the root, else every one.
    """
    found: dict[str, list[tuple[str, Launch]]] = {}
    for job, facts in files.items():
        for launch in facts.launches:
            name = launch.path.removeprefix("./")
            meant = modules.named(job, launch.module) if not name else _ending(python, name)
            here = f"{job.rpartition('/')[0]}/{name}".lstrip("/")
            for path in [path for path in meant if path in (name, here)] or meant:
                found.setdefault(path, []).append((job, launch))
    return found
