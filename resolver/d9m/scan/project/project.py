"""All that rules look at: facts of files, the programs among them, and what holds around them."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Setting
from d9m.scan.facts import WITHOUT_EFFECT, EnvironmentWrite, FileFacts, Order
from d9m.scan.notebooks import cell_of
from d9m.scan.project.call_graph import called_as
from d9m.scan.project.copies import copied_folders, copied_libraries
from d9m.scan.project.effects import Effect, effects
from d9m.scan.project.knowledge import Knowledge
from d9m.scan.project.modules import Modules
from d9m.scan.project.programs import Program, find_programs, launched_files
from d9m.scan.project.questions import PackageStack, Questions
from d9m.scan.project.reach import CodeReach
from d9m.scan.project.returned import through_returns
from d9m.scan.surroundings.surrounding import ScanEnvironment
from d9m.scan.vocabulary import Marks, Vocabulary

Goal: TypeAlias = Literal["auto", "seeded", "repeatable"]

_TESTS = re.compile(r"_?test_")
"""Functions that try out a module and train nothing that is kept."""


def _only_tests(entry: FileFacts) -> bool:
    """Whether a file that is run calls none of its functions but those that try it out."""
    own = {scope.name for scope in entry.scopes if scope.kind == "function"}
    started: list[str] = []
    for call in entry.called:
        if call.in_main and call.is_call and call.name in own:
            started.append(call.name)
    return bool(started) and all(map(_TESTS.match, started))


def _named_in(files: Iterable[FileFacts], unread: Iterable[str]) -> Iterator[str]:
    """The unread files that texts of others name, as a path or, in Python, as a module."""
    paths: set[str] = set()
    modules: set[str] = set()
    for facts in files:
        if facts.kind != "about":
            paths.update(value.rpartition("/")[2] for value in facts.values)
        if facts.kind in ("python", "notebook"):
            modules.update(value.lstrip(".") for value in facts.values)
    for path in unread:
        parts = path.rpartition(".")[0].split("/")
        endings = (".".join(parts[start:]) for start in range(len(parts)))
        if path.rpartition("/")[2] in paths or not modules.isdisjoint(endings):
            yield path


def _rank(program: Program, trains: Marks) -> tuple[bool, bool]:
    """Programs that train in their own file come first, and those whose name says so."""
    own = any(call.name in trains for call in program.entry.calls)
    stem = program.path.rpartition("/")[2]
    return not own, not stem.lower().startswith("train")


class Project:
    """The files of a scan, in order of path."""

    def __init__(
        self,
        kb: KnowledgeBase,
        files: Sequence[FileFacts],
        surroundings: Mapping[str, ScanEnvironment],
        goal: Goal = "auto",
        entry_points: Sequence[str] = (),
    ) -> None:
        self.kb = kb
        self.files = {facts.path: facts for facts in sorted(files, key=lambda facts: facts.path)}
        self.goal: Goal = goal
        self.entry_points = tuple(entry_points)
        self.knowledge = Knowledge(kb)
        self.questions = Questions(kb)
        self.vocabulary = Vocabulary(kb)
        self._surroundings = surroundings
        self._trains: dict[str, bool] = {}
        self._packages: dict[str, frozenset[str]] = {}

    def surroundings(self) -> Collection[ScanEnvironment]:
        """Those of all folders that state anything, and of the root."""
        return self._surroundings.values()

    def around(self, path: str) -> ScanEnvironment:
        """What holds for a file: what the nearest folder above it states."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            if folder in self._surroundings:
                return self._surroundings[folder]
        return ScanEnvironment("")

    @functools.cached_property
    def python(self) -> dict[str, FileFacts]:
        kinds = ("python", "notebook")
        return {path: facts for path, facts in self.files.items() if facts.kind in kinds}

    @functools.cached_property
    def _copies(self) -> frozenset[str]:
        """Folders that are copies of other projects; none where all that trains is in them."""
        imported = {path: self._modules.imported(facts) for path, facts in self.python.items()}
        return self._unless_all_train_in(copied_folders(self.files, imported))

    @functools.cached_property
    def _libraries(self) -> frozenset[str]:
        """Folders that are copies of whole libraries."""
        return self._unless_all_train_in(copied_libraries(self.files, self.vocabulary.libraries))

    def _unless_all_train_in(self, folders: frozenset[str]) -> frozenset[str]:
        starts = tuple(f"{folder}/" for folder in folders)
        own = any(not path.startswith(starts) for path in self.training_paths)
        return folders if own else frozenset()

    def copy_around(self, path: str) -> str:
        """The folder around a file that is a copy of another project; empty if none is."""
        return _around(path, self._copies)

    def is_in_library(self, path: str) -> bool:
        """Whether a file is in a copy of a whole library."""
        return bool(_around(path, self._libraries))

    @functools.cached_property
    def orders(self) -> tuple[tuple[str, Order], ...]:
        """What has no fixed order and reaches a consumer, in its function or in a caller of it."""
        found: list[tuple[str, Order]] = []
        for path, facts in self.python.items():
            found += ((path, order) for order in facts.orders if not order.returned)
        return (*found, *through_returns(self.python, self._modules))

    @functools.cached_property
    def effects(self) -> dict[str, tuple[Effect, ...]]:
        """Settings that each Python file makes."""
        found: dict[str, tuple[Effect, ...]] = {}
        for path, facts in self.python.items():
            found[path] = tuple(effects(self.questions, self.vocabulary, facts))
        return found

    @functools.cached_property
    def seeds_anything(self) -> bool:
        """Whether some file seeds a generator, or states a seed."""
        return bool(self.seeded_generators) or any(facts.seed_line for facts in self.files.values())

    @functools.cached_property
    def seeded_generators(self) -> frozenset[str]:
        """Titles of the generators that some code here seeds, whether anything calls it or not."""
        return frozenset(self._seeded_by(used=False))

    @functools.cached_property
    def used_generators(self) -> frozenset[str]:
        """Titles of those that module code seeds, or a function that something calls."""
        return frozenset(self._seeded_by(used=True))

    def _seeded_by(self, used: bool) -> set[str]:
        found = set(self.configured_generators)
        named = {call.name for facts in self.python.values() for call in facts.called}
        called: set[str] = set()
        for facts in self.python.values():
            for call in facts.calls:
                scope = facts.scopes[call.scope]
                runs = scope.kind != "function" or called_as(scope.name) in named
                if (runs or not used) and not call.gets_nothing:
                    called.add(call.name)
        made = itertools.chain.from_iterable(self.effects.values())
        set_by_helpers = {effect.setting for effect in made if effect.helper is not None}
        for generator in self.knowledge.generators():
            by_call = not called.isdisjoint(generator.marks.seeds)
            if by_call or not set_by_helpers.isdisjoint(generator.settings):
                found.add(generator.title)
        return found

    def may_seed_elsewhere(self, program: Program) -> bool:
        """Whether a program calls something out of sight that says that it seeds: it may seed any
        generator, and turn on any switch.
        """
        for path, facts in program.files.items():
            for call in facts.called:
                if not call.may_seed or call.name in self._functions:
                    continue
                runs = program.runs(path, call.scope) and (not call.in_main or path == program.path)
                if runs and (path, call.line) not in self._helped:
                    return True
        return False

    @functools.cached_property
    def _helped(self) -> frozenset[tuple[str, int]]:
        """Lines on which a helper is called in a way that the records know."""
        found: set[tuple[str, int]] = set()
        for path, made in self.effects.items():
            found.update((path, effect.place.line) for effect in made if effect.helper)
        return frozenset(found)

    @functools.cached_property
    def _functions(self) -> frozenset[str]:
        """Names by which functions and classes of the project are called."""
        found: set[str] = set()
        for facts in self.python.values():
            found.update(called_as(scope.name) for scope in facts.scopes)
        return frozenset(found)

    @functools.cached_property
    def mentioned(self) -> frozenset[str]:
        """Every name that something reads, or that stands in a text."""
        return frozenset[str]().union(*(facts.mentioned for facts in self.files.values()))

    @functools.cached_property
    def configured_generators(self) -> frozenset[str]:
        """Titles of those whose seed call a YAML file names, or a function that makes it:
        ``!apply:utils.seed_everything``.
        """
        named = {name for facts in self.files.values() for name in facts.named}
        last = {name.rpartition(".")[2] for name in named}
        found: set[str] = set()
        for generator in self.knowledge.generators():
            seeds = generator.marks.seeds
            if not named.isdisjoint(seeds):
                found.add(generator.title)
            for facts in self.python.values() if last else ():
                for call in facts.calls:
                    if call.name in seeds and facts.scopes[call.scope].name in last:
                        found.add(generator.title)
        return frozenset(found)

    @functools.cached_property
    def programs(self) -> tuple[Program, ...]:
        found = find_programs(self.files, self.entry_points, self.vocabulary, self._modules)
        for program in found:
            program.effects = tuple(self._effects_in(program))
            for job, facts in self.files.items():
                for launch in facts.launches:
                    one = FileFacts(path=job, kind=facts.kind, launches=(launch,))
                    if program.path in launched_files({job: one}, self.python, self._modules):
                        program.launches = (*program.launches, (job, launch))
        return tuple(found)

    @functools.cached_property
    def reach(self) -> CodeReach:
        named = self.vocabulary.imports_named
        return CodeReach(self.files, self.programs, self.training_paths, named)

    def needed_unread(self, shown: frozenset[str] | None = None) -> frozenset[str]:
        """Return the unreadable files that the answer needs: those that a program or another file
        imports, runs or names, those that may be programs, and all of them where no program was
        read. With `shown`, only those that one of these files or its programs reach.
        """
        unread = {path for path, facts in self.files.items() if facts.unreadable}
        if not unread:
            return frozenset()
        started = {*self.entry_points, *launched_files(self.files, self.python, self._modules)}
        found: set[str] = set()
        for program in self.programs:
            if shown is None or not shown.isdisjoint(program.files):
                for path, facts in program.files.items():
                    if facts.unreadable and (path != program.path or path in started):
                        found.add(path)
        near = [self.files[path] for path in self.reached(shown)]
        for facts in near:
            found.update(unread.intersection(self._modules.imported(facts)))
        found.update(_named_in(near, unread))
        if shown is None:
            no_program = not any(program.entry.called for program in self.programs)
            found.update(path for path in unread if no_program or self.files[path].is_entry)
        return frozenset(found)

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

    def _effects_in(self, program: Program) -> Iterator[Effect]:
        """Settings that a program makes, switches only where it surely runs."""
        switches = self.knowledge.switches()
        world = self.world_of(program)
        for path in program.files:
            for effect in self.effects[path]:
                if not program.makes(effect) or not self.is_made(world, effect):
                    continue
                if effect.setting in switches and not program.surely_runs(
                    effect.path, effect.scope
                ):
                    continue
                yield effect

    def is_made(self, world: PackageStack, effect: Effect) -> bool:
        """Whether a helper makes a setting in an environment. A statement always does, but for one
        under ``hasattr`` or the like, where the release lacks it.
        """
        if effect.guarded and effect.helper is None:
            setting = self.kb.settings[effect.setting]
            return self.questions.holds(world, setting.condition)
        return all(self.questions.holds(world, when) for when in effect.when)

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
    def _modules(self) -> Modules:
        return Modules(self.python)

    def packages_around(self, path: str) -> frozenset[str]:
        """Packages that the files of the same surroundings import."""
        return self._imported.get(self.around(path).folder, frozenset())

    @functools.cached_property
    def _imported(self) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for path, facts in self.python.items():
            folder = self.around(path).folder
            found[folder] = found.get(folder, frozenset()) | self.packages(facts)
        return found

    def world(self, path: str, packages: frozenset[str], oldest: bool = False) -> PackageStack:
        """The environment of some packages as the files around a path state it. Where they do not
        hold together, of the first of them alone that does.
        """
        around = self.around(path)
        whole = self.questions.world(around, packages, oldest)
        if self.questions.environment(whole) is not None:
            return whole
        frameworks = [name for name in packages if self.kb.packages[name].kind == "framework"]
        for package in sorted(frameworks) or sorted(packages):
            alone = self.questions.world(around, [package], oldest)
            if self.questions.environment(alone) is not None:
                return alone
        return self.questions.world(around, [])

    def world_of(self, program: Program) -> PackageStack:
        packages = frozenset[str]().union(*map(self.packages, program.files.values()))
        return self.world(program.path, packages)

    def trains(self, program: Program) -> bool:
        """Whether a program computes gradients, with a framework of the records."""
        if program.path not in self._trains:
            self._trains[program.path] = self._is_trained(program)
        return self._trains[program.path]

    @functools.cached_property
    def has_training_code(self) -> bool:
        """Whether some file trains, by whatever program: a library of data sets alone does not."""
        trains = self.vocabulary.trains
        for facts in self.python.values():
            if any(call.name in trains for call in facts.calls):
                return True
        return False

    @functools.cached_property
    def training_paths(self) -> frozenset[str]:
        """The programs that reach code which computes gradients, however far from their entry."""
        found: list[str] = []
        for program in self.programs:
            if self._computes_gradients(program, program.files):
                found.append(program.path)
        return frozenset(found)

    def _computes_gradients(self, program: Program, paths: Collection[str]) -> bool:
        if _only_tests(program.entry):
            return False
        marks = self.vocabulary.trains
        for path in paths:
            for call in program.files[path].calls:
                tests = _TESTS.match(program.files[path].scopes[call.scope].name)
                if call.name in marks and not tests and program.may_run(path, call):
                    return True
        return False

    def _is_trained(self, program: Program) -> bool:
        if not self._computes_gradients(program, program.files):
            return False
        imported = frozenset[str]().union(*map(self.packages, program.files.values()))
        return any(self._may_train(package) for package in imported)

    def _may_train(self, package: str) -> bool:
        """Whether a package is a framework, or has calls of its own that compute gradients."""
        if self.kb.packages[package].kind == "framework":
            return True
        return any(marks.package == package and marks.trains for marks in self.kb.code.values())

    @functools.cached_property
    def training(self) -> tuple[Program, ...]:
        """The programs that train, those first that do so in their own file."""
        marks = self.vocabulary.trains
        found = [program for program in self.programs if self.trains(program)]
        return tuple(sorted(found, key=lambda one: _rank(one, marks)))

    def wants_determinism(self, program: Program) -> bool:
        """Whether a program turns a deterministic switch on."""
        switches = self.knowledge.switches()
        for effect in program.effects:
            if effect.setting in switches and effect.value not in ("False", "0", "None"):
                return True
        return False

    def switch_for(self, program: Program) -> str | None:
        """The statement of the switch that a program could turn on."""
        stack = self.world_of(program)
        for name, (_label, solution) in self.knowledge.switches().items():
            home = self.kb.home(self.kb.setting_ids[name])
            setting = self.kb.settings[name]
            turn = next(turn for turn in solution.settings if turn.set == name)
            if home in dict(stack.packages) and all(
                self.questions.surely_holds(stack, when)
                for when in (setting.condition, turn.condition)
            ):
                value = turn.to[0] if turn.to else ""
                return (setting.statement or name).replace("{value}", value)
        return None

    @functools.cached_property
    def variables(self) -> dict[str, list[tuple[str, EnvironmentWrite]]]:
        """Variable -> every place of the project that sets it so that it can count."""
        found: dict[str, list[tuple[str, EnvironmentWrite]]] = {}
        for path, write in self.writes():
            if write.how not in WITHOUT_EFFECT and write.how != "unset":
                found.setdefault(write.name, []).append((path, write))
        for path, made in self.effects.items():
            for effect in made:
                if effect.helper is not None and effect.setting in self.knowledge.variables:
                    write = EnvironmentWrite(
                        name=effect.setting,
                        value=effect.value,
                        how="assigned",
                        place=effect.place,
                        offered=effect.offered,
                    )
                    found.setdefault(effect.setting, []).append((path, write))
        return found

    def known_writes(self) -> Iterator[tuple[str, EnvironmentWrite, Setting]]:
        """Variables that are set and that the records know, each with its record."""
        for path, write in self.writes():
            setting = self.knowledge.variables.get(write.name)
            if setting is not None and write.how != "unset":
                yield path, write, setting

    def writes(self) -> Iterator[tuple[str, EnvironmentWrite]]:
        for path, facts in self.files.items():
            for write in facts.variables:
                yield path, write


def _around(path: str, folders: Collection[str]) -> str:
    """The innermost of these folders around a file; empty if none is."""
    folder = path.rpartition("/")[0]
    while folder and folder not in folders:
        folder = folder.rpartition("/")[0]
    return folder
