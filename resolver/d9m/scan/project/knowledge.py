"""Derive from the records alone which settings are switches, and what they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.code_marks import CodeMarks
from d9m.model.records import Setting, SettingChange, Solution, Source
from d9m.model.when import Range
from d9m.scan.vocabulary import setting_statements

VariableTurn: TypeAlias = tuple[Solution, SettingChange]

_BY_TIMING = "algorithm-choice"
"""The mechanism of sources where a library times its algorithms."""


class Generator(msgspec.Struct, frozen=True):
    """A global generator, and the settings that seed it."""

    title: str
    marks: CodeMarks
    settings: frozenset[str]


class Knowledge:
    """Tables of a knowledge base, each made when first asked for."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    @property
    def variables(self) -> dict[str, Setting]:
        """Settings that are variables of the environment."""
        return self.kb.once("scan variables", self._variables)

    def _variables(self) -> dict[str, Setting]:
        settings = self.kb.settings.items()
        return {name: setting for name, setting in settings if setting.kind == "env"}

    def switches(self) -> dict[str, tuple[str, Solution]]:
        """Statement, or variable that does the same -> label and solution of the switch that it
        turns on: with it ops raise that would vary.
        """
        return self.kb.once("scan switches", lambda: dict(self._switches()))

    def _switches(self) -> Iterator[tuple[str, tuple[str, Solution]]]:
        labels: dict[str, None] = {}
        for source in self.kb.sources.values():
            for ruling in source.rulings():
                if ruling.outcome == "raises":
                    for together in ruling.alternatives:
                        labels.update(dict.fromkeys(together))
        for label in labels:
            solution = self.kb.solution(label)[1]
            by_kind: dict[str, list[str]] = {}
            for turn in solution.settings:
                if turn.set is not None:
                    by_kind.setdefault(self.kb.settings[turn.set].kind, []).append(turn.set)
            for name in by_kind.get("python") or by_kind.get("env", ()):
                yield name, (label, solution)

    def wanted(self) -> dict[str, frozenset[str]]:
        """Statement -> values that a solution of some op asks for."""
        return self.kb.once("scan wanted", self._wanted)

    def _wanted(self) -> dict[str, frozenset[str]]:
        return self._asked_for(self.kb.sources.values())

    def timed(self) -> frozenset[str]:
        """Statements that are to be False, for with them a library picks algorithms by timing."""
        return self.kb.once("scan timed", self._timed)

    def _timed(self) -> frozenset[str]:
        sources = self.kb.sources.values()
        asked = self._asked_for(one for one in sources if one.mechanism == _BY_TIMING)
        return frozenset(name for name, values in asked.items() if values == frozenset(("False",)))

    def _asked_for(self, sources: Iterable[Source]) -> dict[str, frozenset[str]]:
        labels: set[str] = set()
        for source in sources:
            if source.scope == "run":
                labels.update(source.labels())
        found: dict[str, frozenset[str]] = {}
        for _label, _id, solution in self.kb.labelled(labels):
            for turn in solution.settings:
                if turn.set is not None and turn.to:
                    found[turn.set] = found.get(turn.set, frozenset()) | frozenset(turn.to)
        return found

    def needed_with(self, statement: str) -> list[VariableTurn]:
        """Variables that must be set together with a switch."""
        if statement not in self.switches() or statement in self.variables:
            return []
        solution = self.switches()[statement][1]
        turns = [turn for turn in solution.settings if turn.set in self.variables and turn.to]
        return [(solution, turn) for turn in turns]

    def in_place_of(self, variable: str) -> list[Setting]:
        """Settings to which a solution gives the values of a variable, in the releases before or
        after those in which it sets the variable.
        """
        found: list[Setting] = []
        for solution in self.kb.solutions.values():
            turns = [turn for turn in solution.settings if turn.set == variable and turn.to]
            for other in solution.settings:
                for turn in turns:
                    if other.to == turn.to and other.set and _take_turns(turn, other):
                        found.append(self.kb.settings[other.set])
        return found

    def generators(self) -> tuple[Generator, ...]:
        return self.kb.once("scan generators", lambda: tuple(self._generators()))

    def _generators(self) -> Iterator[Generator]:
        by_statement = dict(setting_statements(self.kb))
        for marks in self.kb.code.values():
            if marks.generator is not None:
                settings = {by_statement[name] for name in marks.seeds if name in by_statement}
                yield Generator(marks.generator, marks, frozenset(settings))


def _take_turns(one: SettingChange, other: SettingChange) -> bool:
    """Whether the releases of one begin where those of the other end."""
    if isinstance(one.when, list) or isinstance(other.when, list):
        return False
    for package, first in one.when.items():
        second = other.when.get(package)
        if isinstance(first, Range) and isinstance(second, Range):
            if first.until is not None and first.until == second.from_:
                return True
            if second.until is not None and second.until == first.from_:
                return True
    return False
