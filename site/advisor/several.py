"""What sources and conditions answer where a question names several packages: the releases of all
that their conditions name stay open, and the page keeps those that are there.

Only for those that name more than one package: what one package answers stands in its own row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from advisor.columns import HERE, Column, Sheet, first_good_in
from advisor.statements import Conditions
from advisor.tensors import Tensors
from d9m.environment.environment import DEVICES, Environment
from d9m.environment.releases import Installed, of_any
from d9m.kb.store import KnowledgeBase
from d9m.model.conditions import Cell, Cells, intervals
from d9m.model.op_syntax import Direction
from d9m.model.versions import FIRST, key
from d9m.model.when import Condition, Cuts, World
from d9m.resolve.rules import Rules

ABSENT = Cell(None)
"""The last part of the domain of each package but the home package: it is not there."""


class Several:
    """Tensors over the releases of several packages, for each device."""

    def __init__(self, kb: KnowledgeBase, sheet: Sheet, tensors: Tensors) -> None:
        self.kb = kb
        self.sheet = sheet
        self.tensors = tensors

    def everything(self, columns: Iterable[Column], conditions: Conditions) -> dict[str, Any]:
        """The packages that each column and each condition names, and the tensors of those that
        name more than one.
        """
        named: list[list[str]] = []
        cells: dict[int, list[list[int]]] = {}
        for number, column in enumerate(columns):
            rules = column.rules
            named.append(self._packages(rules.cuts, rules.home))
            if named[-1]:
                cells[number] = [self._cell(column, device) for device in DEVICES]
        restricted: list[list[str]] = []
        tensors: dict[int, list[int]] = {}
        for number, condition in enumerate(conditions):
            restricted.append(self._packages(condition.cuts))
            if len(restricted[-1]) > 1:
                tensors[number] = [self._holding(condition, device) for device in DEVICES]
        return {"columns": named, "conditions": restricted, "cells": cells, "tensors": tensors}

    def _packages(self, cuts: Iterable[str], home: str | None = None) -> list[str]:
        """Those of the names that can be added to a question: no facts, no images."""
        found: list[str] = []
        for name in cuts:
            if name in self.kb.packages and name != home and self.kb.packages[name].kind != "image":
                found.append(name)
        return found

    def _cell(self, column: Column, device: str) -> list[int]:
        """Tensors of the verdict, then of the release that fixes it, as in a row."""
        rules = column.rules
        domains = self._domains(rules.cuts, device, rules)
        others = {name: cells for name, cells in domains.items() if name != rules.home}
        directions = HERE if column.splits else (column.ways,)
        verdicts = [self._verdict(rules, domains, here) for here in directions]
        return [*verdicts, *(self._fixed(rules, others, here) for here in directions)]

    def _verdict(self, rules: Rules, domains: dict[str, Cells], here: tuple[Direction, ...]) -> int:
        def answer(world: World) -> int:
            verdict = rules.verdict(world, None, here)[0]
            return self.sheet.verdicts.place((verdict, verdict))

        return self.tensors.place(domains, answer)

    def _fixed(self, rules: Rules, domains: dict[str, Cells], here: tuple[Direction, ...]) -> int:
        anywhere = self._environment({rules.home: of_any(self.kb.releases(rules.home))})
        over = anywhere.cells(rules.home, rules.cuts.get(rules.home, ()))
        return self.tensors.place(domains, lambda world: first_good_in(rules, world, over, here))

    def _holding(self, condition: Condition, device: str) -> int:
        domains = self._domains(condition.cuts, device)
        return self.tensors.place(domains, lambda world: int(condition.holds(world)))

    def _domains(self, cuts: Cuts, device: str, rules: Rules | None = None) -> dict[str, Cells]:
        """Every fact and package open; images are not there."""
        facts = self._environment({}, device)
        packages = self._packages(cuts)
        found: dict[str, Cells] = {}
        for name, at in cuts.items():
            if rules is not None and name == rules.home:
                found[name] = self._releases(rules, at)
            elif name in packages:
                found[name] = (*intervals(at, key, FIRST), ABSENT)
            else:
                found[name] = facts.cells(name, at, assume=False)
        return found

    def _releases(self, rules: Rules, cuts: tuple[str, ...]) -> Cells:
        """Those of the home package; where nobody listed them, none before the first step."""
        cells = intervals(cuts, key, FIRST)
        if self.kb.releases(rules.home):
            return cells
        first = key(rules.source.timeline[rules.home][0].from_)
        return tuple(cell for cell in cells if cell.low is not None and key(cell.low) >= first)

    def _environment(self, packages: dict[str, Installed], device: str = "") -> Environment:
        return Environment(packages, None, device, {}, self.kb.meta.facts, frozenset())
