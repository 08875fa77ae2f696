"""Sources as ops meet them: what each does in an environment, and since when it is fixed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import msgspec

from advisor.environments import Offered
from advisor.tensors import Pool, Tensors, open_domains
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase, OpSource, Reached
from d9m.model.conditions import Cell, Cells
from d9m.model.op_syntax import BOTH, Direction
from d9m.model.versions import key
from d9m.model.when import Clause, World
from d9m.resolve.evaluate import everywhere, first_good, since_first_step
from d9m.resolve.rules import NOT_MET, Rules, rules, unverified

HERE: tuple[tuple[Direction, ...], ...] = (("forward",), ("backward",), BOTH)
"""The directions in which an op may be asked about."""


class Column(msgspec.Struct, frozen=True):
    """One source as some ops reach it: most of its ops share this."""

    op_source: OpSource
    rules: Rules

    @property
    def ways(self) -> tuple[Direction, ...]:
        return tuple(self.rules.directions(BOTH))

    @property
    def splits(self) -> bool:
        """Whether its directions answer differently."""
        return len({pattern.directions for pattern in self.op_source.patterns}) > 1

    @property
    def asks(self) -> list[str]:
        """Facts that its conditions ask about."""
        return [name for name in self.rules.cuts if name in self.rules.kb.meta.facts]


class Columns:
    """Every way in which an op, or a package, meets a source; each is known by its number."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._numbers: dict[Rules, int] = {}
        self.every: list[Column] = []
        self.of_package = {
            package: self._placed(kb.package_level.get(package) or (), {})
            for package in kb.packages
        }
        """Those of the sources that belong to no op."""

    def of_op(self, package: str, reached: Reached) -> list[int]:
        """Those that an op meets, under the condition of the name that leads to it."""
        return self._placed(self._kb.sources_of(package, reached.op), reached.when)

    def _placed(self, group: Sequence[OpSource], when: Clause) -> list[int]:
        return [self._number(Column(each, rules(self._kb, each, when))) for each in group]

    def _number(self, column: Column) -> int:
        if column.rules not in self._numbers:
            self._numbers[column.rules] = len(self.every)
            self.every.append(column)
        return self._numbers[column.rules]


class Sheet:
    """The answers of all columns, environment by environment."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.verdicts = Pool()
        self._seen: dict[Hashable, int] = {}
        self._domains = Pool()
        self._parts: dict[Hashable, int] = {}

    def cell(self, column: Column, offered: Offered) -> tuple[int, ...]:
        """Tensors of the verdict, then of the release that fixes it; each once, or by direction
        where they differ.
        """
        found: list[int] = []
        for find, look in ((self._verdict, self._look_here), (self._fixed, self._look_anywhere)):
            for here in HERE if column.splits else (column.ways,):
                place = (find, column.rules, here, look(column.rules, offered))
                found.append(self._once(place, offered, here))
        return tuple(found)

    def _once(self, place: tuple[Any, ...], offered: Offered, here: tuple[Direction, ...]) -> int:
        if place not in self._seen:
            find, rules = place[:2]
            self._seen[place] = find(rules, offered.environment, here)
        return self._seen[place]

    def _look_here(self, rules: Rules, offered: Offered) -> Hashable:
        """All that a verdict can depend on, but for facts."""
        environment = offered.environment
        image = environment.image.package if environment.image else None
        names = [name for name in rules.cuts if name not in environment.vocabulary]
        parts = [self._part(rules, name, offered) for name in names]
        return (image if image in rules.tracks else "", _newest(environment, rules.home), *parts)

    def _look_anywhere(self, rules: Rules, offered: Offered) -> Hashable:
        """All that the release with a fix can depend on, but for facts: what an image or a wheel
        holds does not count.
        """
        environment = offered.environment
        counts = {"device", *environment.undecided}
        for name, package in environment.packages.items():
            if package.origin == "given":
                counts.add(name)
        parts: list[Hashable] = []
        for name in rules.cuts:
            if name not in environment.vocabulary and name != rules.home:
                parts.append(self._part(rules, name, offered) if name in counts else None)
        return tuple(parts)

    def _part(self, rules: Rules, name: str, offered: Offered) -> Hashable:
        """The domain of one variable, equal where no condition can distinguish two."""
        if name == "device":
            return offered.environment.device
        place = (name, id(rules.cuts[name]), offered.held.get(name))
        if place not in self._parts:
            self._parts[place] = self._domains.place(
                positions(offered.environment, name, rules.cuts[name])
            )
        return self._parts[place]

    def _verdict(self, rules: Rules, environment: Environment, here: tuple[Direction, ...]) -> int:
        if rules.applies.excludes("device", environment.device):
            return self.tensors.place({}, lambda _: self.verdicts.place((NOT_MET, NOT_MET)))
        image = environment.image.package if environment.image else None
        newest = _newest(environment, rules.home)

        def answer(world: World) -> int:
            verdict = rules.verdict(world, image, here)[0]
            return self.verdicts.place(
                (verdict, unverified(verdict, newest) if newest else verdict)
            )

        domains = since_first_step(rules, environment, open_domains(environment, rules.cuts))
        return self.tensors.place(domains, answer)

    def _fixed(self, rules: Rules, environment: Environment, here: tuple[Direction, ...]) -> int:
        domains = open_domains(everywhere(rules, environment), rules.cuts)
        over = domains.pop(rules.home, ())
        return self.tensors.place(domains, lambda world: first_good_in(rules, world, over, here))


def positions(environment: Environment, name: str, cuts: tuple[str, ...]) -> Hashable:
    """The domain of a package by the cuts between which its cells lie, whatever release stands for
    each.
    """
    edges = [key(cut) for cut in cuts]
    found: list[Hashable] = []
    for cell in environment.cells(name, cuts):
        value = cell.value
        below = sum(edge <= value for edge in edges) if isinstance(value, tuple) else value
        found.append((below, cell.low, cell.high))
    return tuple(found)


def _newest(environment: Environment, home: str) -> str | None:
    """The newest release known, where the environment holds a newer one."""
    installed = environment.packages.get(home)
    return (
        installed.candidates.releases[-1]
        if installed and installed.candidates.how == "newer"
        else None
    )


def first_good_in(
    rules: Rules, world: World, over: Cells, here: tuple[Direction, ...]
) -> tuple[str, str] | None:
    """Home and its first release from which every later one is settled, in one world."""
    domains = {name: (Cell(value),) for name, value in world.items()}
    fixed = first_good(rules, {**domains, rules.home: over}, list(here))
    return None if fixed is None else (rules.home, fixed)
