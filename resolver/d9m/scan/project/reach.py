"""Who runs a line of a project: a program that trains, another one, or nothing in sight."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from d9m.scan.facts import FileFacts, scopes_around
from d9m.scan.project.call_graph import Place, last_part
from d9m.scan.project.programs import Program
from d9m.scan.vocabulary import Marks

RunBy: TypeAlias = Literal["training", "other", "unknown", "nothing"]
"""``unknown``: nothing here runs it, but what is out of sight may."""

_INSTALLERS = ("setup.py", "setup.cfg", "pyproject.toml")


class CodeReach:
    """Knows which code the programs of a project run, by name: generous, for a name that may mean
    a function counts as a call of it.
    """

    def __init__(
        self,
        files: Mapping[str, FileFacts],
        programs: Sequence[Program],
        training: Collection[str],
        imports_named: Marks,
    ) -> None:
        """`training`: paths of the programs that train; `imports_named`: calls that import a
        module whose name the text does not show.
        """
        self._files = files
        self._programs = programs
        self._training = training
        self._imports_named = imports_named
        self._holding: dict[str, tuple[Program, ...]] = {}
        self._known: dict[tuple[str, int], RunBy] = {}

    def by(self, path: str, line: int) -> RunBy:
        """Who runs a line of a Python file, best first: a program that trains counts most."""
        if (path, line) not in self._known:
            place = (path, _scope_at(self._files[path], line))
            self._known[path, line] = self._by(place, line)
        return self._known[path, line]

    def matters(self, path: str, line: int) -> bool:
        """Whether a line may change what a program trains, or, in a project that trains nothing,
        what any program does. Files that are not Python always may.
        """
        if not self._is_python(path):
            return True
        by = self.by(path, line)
        return by != "nothing" and not (by == "other" and self._training)

    def is_dead(self, path: str, line: int) -> bool:
        """Whether a program imports a Python file, but nothing runs this line of it."""
        held = self._is_python(path) and bool(self._holders(path))
        return held and self.by(path, line) == "nothing"

    def is_out_of_sight(self, path: str, line: int) -> bool:
        """Whether no program here runs a line of a function, in a project whose programs train, and
        no register or job file knows it.
        """
        if not self._training or not self._is_python(path) or self.by(path, line) != "unknown":
            return False
        number = _scope_at(self._files[path], line)
        return number > 0 and not self._is_known(path, number)

    def _is_python(self, path: str) -> bool:
        return path in self._files and self._files[path].kind in ("python", "notebook")

    def runs(self, program: Program, path: str, line: int) -> bool:
        """Whether a program may run a line."""
        if path not in program.files:
            return False
        return self._may_run(program, (path, _scope_at(self._files[path], line)), line)

    def is_run_from_outside(self, path: str, line: int, folder: str) -> bool:
        """Whether a program that trains and is not in a folder runs a line of a file in it."""
        for program in self._holders(path):
            outside = not program.path.startswith(f"{folder}/")
            if outside and program.path in self._training and self.runs(program, path, line):
                return True
        return False

    def is_refused(self, path: str, line: int) -> bool:
        """Whether programs run the function around a line of a Python file, and each call of it
        refuses what the line stands under.
        """
        running = self._entering((path, _scope_at(self._files[path], line)))
        return bool(running) and all(one.never_runs(path, line) for one in running)

    def _entering(self, place: Place) -> list[Program]:
        return [one for one in self._holders(place[0]) if one.may_enter(place)]

    def needs_option(self, path: str, line: int) -> bool:
        """Whether the programs that run a line of a Python file do so only where somebody gives an
        option that no command of the project gives.
        """
        if not self._is_python(path) or self.by(path, line) not in ("training", "other"):
            return False
        scope = _scope_at(self._files[path], line)
        running = self._entering((path, scope))
        usual = any(one.usually_runs(path, scope, line) for one in running)
        return bool(running) and not usual

    def _by(self, place: Place, line: int) -> RunBy:
        running = [one for one in self._holders(place[0]) if self._may_run(one, place, line)]
        if any(program.path in self._training for program in running):
            return "training"
        if running:
            return "other"
        return "unknown" if self._may_be_used(place) else "nothing"

    def _holders(self, path: str) -> tuple[Program, ...]:
        if path not in self._holding:
            found = tuple(program for program in self._programs if path in program.files)
            self._holding[path] = found
        return self._holding[path]

    def _may_run(self, program: Program, place: Place, line: int) -> bool:
        """Whether a program runs a line of a scope, or picks functions by names that the text does
        not show and finds one in a module that it imports.
        """
        if program.never_runs(place[0], line):
            return False
        if program.may_enter(place):
            return True
        path, number = place
        scopes = self._files[path].scopes
        if number == 0 or scopes[scopes_around(scopes, number)[-1]].kind != "function":
            return False
        return path != program.path and program.may_pick((path, scopes_around(scopes, number)[-1]))

    def _may_be_used(self, place: Place) -> bool:
        """Whether something out of sight may run a scope that no program here does: it is in a
        file that nothing imports, as module code or in a project that trains nothing; a register
        or a job file knows it; or it is in a package that others install, and not in one whose own
        programs train.
        """
        path, number = place
        held = bool(self._holders(path))
        if not held and (number == 0 or not self._training):
            return True
        if self._is_known(path, number):
            return True
        if not held and self._imports_by_name:
            return True
        return self._is_installed(path) and not self._trains_itself(path)

    def _is_known(self, path: str, number: int) -> bool:
        """Whether a register or a job file knows the function or class around a scope."""
        scopes = self._files[path].scopes
        outer = scopes[scopes_around(scopes, number)[-1]]
        return outer.registered or last_part(outer.name) in self.named_in_jobs

    def _trains_itself(self, path: str) -> bool:
        """Whether the package of a file has programs that train: what those do not run is left over
        rather than there for others.
        """
        folder = path.rpartition("/")[0]
        while f"{folder.rpartition('/')[0]}/__init__.py" in self._files:
            folder = folder.rpartition("/")[0]
        return any(program.startswith(f"{folder}/") for program in self._training)

    @functools.cached_property
    def named_in_jobs(self) -> frozenset[str]:
        """Names in configurations and job files."""
        found: set[str] = set()
        for facts in self._files.values():
            if facts.kind not in ("python", "notebook"):
                found.update(facts.mentioned)
        return frozenset(found)

    @functools.cached_property
    def _imports_by_name(self) -> bool:
        for facts in self._files.values():
            if any(call.name in self._imports_named for call in facts.calls):
                return True
        return False

    def _is_installed(self, path: str) -> bool:
        """Whether a file is in a package, with a file above it that says how to install that."""
        folder = path.rpartition("/")[0]
        if f"{folder}/__init__.py" not in self._files:
            return False
        while folder:
            folder = folder.rpartition("/")[0]
            for name in _INSTALLERS:
                if (f"{folder}/{name}" if folder else name) in self._files:
                    return True
        return False


def _scope_at(facts: FileFacts, line: int) -> int:
    """The innermost scope around a line."""
    found = 0
    for number, scope in enumerate(facts.scopes):
        around = number > 0 and scope.line <= line <= scope.end_line
        if around and (found == 0 or scope.line >= facts.scopes[found].line):
            found = number
    return found
