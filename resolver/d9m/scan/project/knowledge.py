"""Derive from the records alone which settings are switches, and what they need."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.code_marks import CodeMarks
from d9m.model.records import Setting, SettingChange, Solution, Source
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

    @functools.cached_property
    def variables(self) -> dict[str, Setting]:
        """Settings that are variables of the environment."""
        settings = self.kb.settings.items()
        return {name: setting for name, setting in settings if setting.kind == "env"}

    @functools.cached_property
    def switches(self) -> dict[str, Solution]:
        """Statement, or variable that does the same -> solution of the switch that it turns on:
        with it ops raise that would vary.
        """
        found: dict[str, Solution] = {}
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
            names = by_kind.get("python") or by_kind.get("env", ())
            found.update(dict.fromkeys(names, solution))
        return found

    @functools.cached_property
    def wanted(self) -> dict[str, frozenset[str]]:
        """Statement -> values that a solution of some op asks for."""
        return self._asked_for(self.kb.sources.values())

    @functools.cached_property
    def timed(self) -> frozenset[str]:
        """Statements that are to be False, for with them a library picks algorithms by timing."""
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
        if statement not in self.switches or statement in self.variables:
            return []
        solution = self.switches[statement]
        turns = [turn for turn in solution.settings if turn.set in self.variables and turn.to]
        return [(solution, turn) for turn in turns]

    @functools.cached_property
    def generators(self) -> list[Generator]:
        """The global generators that code can seed."""
        found: list[Generator] = []
        by_statement = dict(setting_statements(self.kb))
        for marks in self.kb.code.values():
            if marks.generator is not None:
                settings = {by_statement[name] for name in marks.seeds if name in by_statement}
                found.append(Generator(marks.generator, marks, frozenset(settings)))
        return found
