"""The rows of the tables: what all sources and conditions answer in each environment, each distinct
part made once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from advisor.columns import Column, Sheet, positions
from advisor.environments import Offered
from advisor.statements import Conditions
from advisor.tensors import Pool
from d9m.kb.store import KnowledgeBase
from d9m.model.when import Cuts

IMAGE = ""
"""Stands for the kind of image among the names of packages."""

Group = tuple[tuple[str, ...], list[int]]
"""Names that some columns (or conditions) restrict, and the places of those that restrict just
these.
"""


class Rows:
    """Rows of any number of environments. All conditions must be known before the first."""

    def __init__(
        self, kb: KnowledgeBase, sheet: Sheet, columns: Sequence[Column], conditions: Conditions
    ) -> None:
        self.sheet = sheet
        self.columns = columns
        self.conditions = conditions
        self.cells = Pool()
        facts = kb.meta.facts
        restricted = [[IMAGE, each.rules.home, *each.rules.cuts] for each in columns]
        self._columns = _grouped(restricted, facts)
        self._conditions = _grouped(conditions.cuts(), facts)
        self._cuts = _joined([*(each.rules.cuts for each in columns), *conditions.cuts()])
        self._tokens: dict[tuple[str, int], int] = {}
        self._domains = Pool()
        self._seen: dict[Hashable, tuple[int, ...]] = {}
        self._alike: dict[Hashable, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def answers(self, offered: Offered) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Places of the cells of all columns (-1 for sources of packages that are not there), and
        tensors of all conditions."""
        tokens = self._tokens_of(offered)
        alike = tuple(tokens.items())
        if alike not in self._alike:
            cells = self._row(self._columns, len(self.columns), self._cell, offered, tokens)
            holding = self._row(
                self._conditions, len(self.conditions), self.conditions.tensor, offered, tokens
            )
            self._alike[alike] = (cells, holding)
        return self._alike[alike]

    def _cell(self, number: int, offered: Offered) -> int:
        column = self.columns[number]
        there = column.rules.home in offered.environment.packages
        return self.cells.place(self.sheet.cell(column, offered)) if there else -1

    def _row(
        self,
        groups: Sequence[Group],
        size: int,
        make: Callable[[int, Offered], int],
        offered: Offered,
        tokens: Mapping[str, Hashable],
    ) -> tuple[int, ...]:
        row = [-1] * size
        for names, places in groups:
            key = (id(places), *map(tokens.get, names))
            if key not in self._seen:
                self._seen[key] = tuple(make(place, offered) for place in places)
            for place, value in zip(places, self._seen[key]):
                row[place] = value
        return tuple(row)

    def _tokens_of(self, offered: Offered) -> dict[str, Hashable]:
        """For each package, and for the device and the image: equal tokens where no condition
        distinguishes two.
        """
        environment = offered.environment
        image = environment.image.package if environment.image else None
        tokens: dict[str, Hashable] = {"device": environment.device, IMAGE: image}
        for name, number in offered.held.items():
            if (name, number) not in self._tokens:
                installed = environment.packages.get(name)
                newest = (
                    installed.candidates.releases[-1]
                    if installed and installed.candidates.how == "newer"
                    else ""
                )
                where = positions(environment, name, self._cuts.get(name, ()))
                self._tokens[name, number] = self._domains.place(
                    (newest, installed and installed.origin, where)
                )
            tokens[name] = self._tokens[name, number]
        return tokens


def _grouped(restricted: Iterable[Iterable[str]], facts: Mapping[str, object]) -> list[Group]:
    found: dict[tuple[str, ...], list[int]] = {}
    for place, names in enumerate(restricted):
        packages = dict.fromkeys(name for name in names if name not in facts)
        found.setdefault(tuple(packages), []).append(place)
    return list(found.items())


def _joined(all_cuts: Iterable[Cuts]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for cuts in all_cuts:
        for name, bounds in cuts.items():
            found.setdefault(name, set()).update(bounds)
    return {name: tuple(sorted(bounds)) for name, bounds in found.items()}
