"""All that rules look at: facts of files, the programs among them, and what holds around them."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Setting
from d9m.scan.facts import WITHOUT_EFFECT, EnvironmentWrite, FileFacts
from d9m.scan.jobs.launch import script_path
from d9m.scan.notebooks import cell_of
from d9m.scan.project.effects import Effect, effects
from d9m.scan.project.knowledge import Knowledge
from d9m.scan.project.modules import Modules
from d9m.scan.project.programs import Program, find_programs, launched_files
from d9m.scan.project.questions import PackageStack, Questions
from d9m.scan.surroundings.surrounding import ScanEnvironment
from d9m.scan.vocabulary import Vocabulary

_OUTSIDE = re.compile(r"[~/]|.*\$(?:\w|\{\w+\})|(?:.*/)?(?:de)?activate$")
"""A script that is sourced and need not be part of the project."""

_OFF = ("false", "0", "none")


class Project:
    """The files of a scan, in order of path."""

    def __init__(
        self,
        kb: KnowledgeBase,
        files: Sequence[FileFacts],
        surroundings: Mapping[str, ScanEnvironment],
        entry_points: Sequence[str] = (),
    ) -> None:
        self.kb = kb
        self.files = {facts.path: facts for facts in sorted(files, key=lambda facts: facts.path)}
        self.entry_points = tuple(entry_points)
        self.knowledge = kb.once("scan", lambda: Knowledge(kb))
        self.questions = Questions(kb)
        self.vocabulary = Vocabulary(kb)
        self._surroundings = surroundings
        self._packages: dict[str, frozenset[str]] = {}

    # --- files -------------------------------------------------------------------------

    @functools.cached_property
    def python(self) -> dict[str, FileFacts]:
        kinds = ("python", "notebook")
        return {path: facts for path, facts in self.files.items() if facts.kind in kinds}

    @functools.cached_property
    def _modules(self) -> Modules:
        return Modules(self.python)

    @functools.cached_property
    def effects(self) -> dict[str, tuple[Effect, ...]]:
        """Settings that each Python file makes."""
        found: dict[str, tuple[Effect, ...]] = {}
        for path, facts in self.python.items():
            found[path] = tuple(effects(self.questions, self.vocabulary, facts))
        return found

    def needed_unread(self, shown: frozenset[str] | None = None) -> frozenset[str]:
        """Return the unreadable files that the answer needs: those that another file imports or
        runs, those that may be programs, and all of them where no program was read. With `shown`,
        only those that one of these files reaches.
        """
        unread = {path for path, facts in self.files.items() if facts.unreadable}
        found: set[str] = set()
        if not unread:
            return frozenset()
        for path in self.reached(shown):
            found.update(unread.intersection(self._modules.imported(self.files[path])))
        if shown is None:
            found.update(launched_files(self.files, self.python, self._modules))
            found.update(self.entry_points)
            found.update(path for path in unread if self.files[path].is_entry)
            if not any(program.entry.called for program in self.programs):
                found = unread
        return frozenset(found & unread)

    def reached(self, shown: frozenset[str] | None) -> frozenset[str]:
        """Return the files that are shown, and those that they import or start."""
        if shown is None:
            return frozenset(self.files)
        todo = [path for path in shown if path in self.files]
        found: set[str] = set()
        while todo:
            path = todo.pop()
            if path not in found:
                found.add(path)
                facts = self.files[path]
                todo += self._modules.imported(facts)
                todo += launched_files({path: facts}, self.python, self._modules)
        return frozenset(found)

    def sourced(self, job: FileFacts) -> Iterator[tuple[int, str, FileFacts | None]]:
        """Yield the scripts of the project that a job sources: line, name and facts; None for one
        that was not read.
        """
        for word, line in job.sourced:
            name = script_path(word)
            found = [each for path, each in self.files.items() if f"/{path}".endswith(f"/{name}")]
            yield from ((line, name, each) for each in found)
            if not found and not _OUTSIDE.match(word):
                yield line, name, None

    def line(self, path: str, number: int) -> str:
        """A line of a file as its reader counts it: in a notebook, in its cell."""
        facts = self.files.get(path)
        if facts is None or not facts.cells:
            return f"line {number}"
        cell, line = cell_of(facts.cells, number)
        return f"line {line} of cell {cell}"

    def spot(self, path: str, number: int) -> str:
        """A line of another file: ``train.py:3``."""
        facts = self.files.get(path)
        if facts is None or not facts.cells:
            return f"{path}:{number}"
        return f"{path}, {self.line(path, number)}"

    # --- what holds around a file ------------------------------------------------------

    def surroundings(self) -> Collection[ScanEnvironment]:
        """Those of all folders that state anything, and of the root."""
        return self._surroundings.values()

    def around(self, path: str) -> ScanEnvironment:
        """Return the environment of a file: the statements of the nearest folder above it."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            if folder in self._surroundings:
                return self._surroundings[folder]
        return ScanEnvironment("")

    def packages(self, facts: FileFacts) -> frozenset[str]:
        """Packages of the records that a file imports, but for modules of the project that have
        the name of one, such as ``datasets``.
        """
        if facts.path not in self._packages:
            found: set[str] = set()
            for each in facts.imports:
                package = self.vocabulary.package(each.module)
                if package is not None and not self._modules.importable(facts.path, each.module):
                    found.add(package)
            self._packages[facts.path] = frozenset(found)
        return self._packages[facts.path]

    @functools.cached_property
    def _imported(self) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for path, facts in self.python.items():
            folder = self.around(path).folder
            found[folder] = found.get(folder, frozenset()) | self.packages(facts)
        return found

    def packages_around(self, path: str) -> frozenset[str]:
        """Packages that the files of the same surroundings import."""
        return self.imported_in(self.around(path).folder)

    def imported_in(self, folder: str) -> frozenset[str]:
        """Packages that the files which a folder's statements hold for import."""
        return self._imported.get(folder, frozenset())

    def world(self, path: str, packages: frozenset[str], oldest: bool = False) -> PackageStack:
        """The environment of some packages as the files around a path state it. Where they do not
        hold together, of the first of them alone that does.
        """
        around = self.around(path)
        frameworks = [name for name in packages if self.kb.packages[name].kind == "framework"]
        alone = [(name,) for name in sorted(frameworks) or sorted(packages)]
        for together in (packages, *alone):
            stack = self.questions.world(around, together, oldest)
            if self.questions.environment(stack) is not None:
                return stack
        return self.questions.world(around, [])

    def home(self, setting: str) -> str:
        """The package that a setting belongs to."""
        return self.kb.home(self.kb.setting_ids[setting])

    # --- programs ----------------------------------------------------------------------

    @functools.cached_property
    def programs(self) -> tuple[Program, ...]:
        found = find_programs(
            self.files, self.entry_points, self.vocabulary, self._modules, self.effects
        )
        return tuple(found)

    def alone(self, path: str) -> Program:
        """A file as if it were a program that reaches no other."""
        return Program(self.python[path], (self.python[path],), self.effects, ())

    def world_of(self, program: Program) -> PackageStack:
        packages = frozenset[str]().union(*map(self.packages, program.files.values()))
        return self.world(program.path, packages)

    def trains(self, program: Program) -> bool:
        """Whether a program reaches code that computes gradients, with a package that can."""
        marks = self.vocabulary.marks("trains")
        return next(iter(program.calls(marks)), None) is not None and any(
            self._may_train(package)
            for facts in program.files.values()
            for package in self.packages(facts)
        )

    def _may_train(self, package: str) -> bool:
        """Whether a package is a framework, or has calls that compute gradients."""
        own = (marks for marks in self.kb.code.values() if marks.package == package)
        return self.kb.packages[package].kind == "framework" or any(one.trains for one in own)

    def is_made(self, world: PackageStack, effect: Effect) -> bool:
        """Whether a helper makes a setting in an environment. A statement always does, but for one
        under ``hasattr`` or the like, where the release lacks it.
        """
        if effect.guarded and effect.helper is None:
            return self.questions.holds(world, self.kb.settings[effect.setting].condition)
        return all(self.questions.holds(world, when) for when in effect.when)

    def turns_on(self, setting: str, value: str | None) -> bool:
        """Whether a setting is a deterministic switch, and a value turns it on."""
        switch = self.knowledge.switches.get(setting)
        if switch is None:
            return False
        if self.kb.settings[setting].kind != "env":
            return (value or "").lower() not in _OFF
        wanted = next(turn.to for turn in switch.settings if turn.set == setting)
        return any(flag in (value or "").lower().split() for flag in wanted)

    # --- variables ---------------------------------------------------------------------

    def writes(self) -> Iterator[tuple[str, EnvironmentWrite]]:
        for path, facts in self.files.items():
            for write in facts.variables:
                yield path, write

    def known_writes(self) -> Iterator[tuple[str, EnvironmentWrite, Setting]]:
        """Variables that are set and that the records know, each with its record."""
        for path, write in self.writes():
            setting = self.knowledge.variables.get(write.name)
            if setting is not None and write.how != "unset":
                yield path, write, setting

    @functools.cached_property
    def variables(self) -> dict[str, list[tuple[str, EnvironmentWrite]]]:
        """Variable -> every place of the project that sets it so that it can count."""
        found: dict[str, list[tuple[str, EnvironmentWrite]]] = {}
        for path, write in self.writes():
            if write.how not in WITHOUT_EFFECT and write.how != "unset":
                found.setdefault(write.name, []).append((path, write))
        for path, made in self.effects.items():
            for one in made:
                if one.helper is not None and one.setting in self.knowledge.variables:
                    write = EnvironmentWrite(
                        name=one.setting, value=one.value, how="assigned", place=one.place
                    )
                    found.setdefault(one.setting, []).append((path, write))
        return found
