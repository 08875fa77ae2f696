"""Whether conditions can hold together in some environment, asked without any environment."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from d9m.authoring.lint.index import RecordIndex, readable
from d9m.environment.environment import DEVICES
from d9m.model import conditions
from d9m.model.conditions import Cell, Cells
from d9m.model.records import Fact
from d9m.model.versions import FIRST, key
from d9m.model.when import ABSENT, Condition, Range, Restriction, Value, When, clauses, parse
from d9m.model.when import cuts as all_cuts


def possible(
    index: RecordIndex, whens: Sequence[When], fixed: Mapping[str, Value] | None = None
) -> bool:
    """Whether some environment with the `fixed` variables fulfils all conditions.

    True where a condition has faults: other rules name them.
    """
    if not all(is_sound(index, when) for when in whens):
        return True
    parsed = [parse(when) for when in whens]
    domains = _domains(index, parsed, fixed or {})
    choices = itertools.product(*(condition.clauses for condition in parsed))
    return any(_fit(chosen, domains) for chosen in choices)


def reachable(index: RecordIndex, wanted: Sequence[When], earlier: Sequence[When]) -> bool:
    """Whether some environment fulfils all of `wanted` and none of `earlier`."""
    if not all(is_sound(index, when) for when in (*wanted, *earlier)):
        return True
    parsed = [parse(when) for when in wanted]
    before = [parse(when) for when in earlier]
    domains = _domains(index, [*parsed, *before], {})
    for cells in itertools.product(*domains.values()):
        world = {name: cell.value for name, cell in zip(domains, cells)}
        if any(condition.holds(world) for condition in before):
            continue
        if all(condition.holds(world) for condition in parsed):
            return True
    return False


def is_sound(index: RecordIndex, when: When) -> bool:
    """Whether every variable is known, and has the values and releases that it is compared with."""
    for clause in clauses(when):
        for name, allowed in clause.items():
            if not _is_sound(index, name, allowed):
                return False
    return True


def _is_sound(index: RecordIndex, name: str, allowed: str | list[str] | Range) -> bool:
    fact = index.facts.get(name)
    if not isinstance(allowed, Range):
        values = [allowed] if isinstance(allowed, str) else allowed
        if name in index.packages:
            return values == [ABSENT]
        is_known = name == "device" or fact is not None
        return is_known and all(takes(fact, value) for value in values)
    bounds = [bound for bound in (allowed.from_, allowed.until) if bound is not None]
    if fact is not None:
        return fact.type == "int" and all(map(is_number, bounds))
    return name in index.packages and all(_is_bound(index, name, bound) for bound in bounds)


def _is_bound(index: RecordIndex, package: str, bound: str) -> bool:
    if readable(bound) is None:
        return False
    return not index.releases[package] or index.lists(package, bound)


def takes(fact: Fact | None, value: str) -> bool:
    """Whether a fact, or the device where `fact` is None, can have this value."""
    if fact is None:
        return value in DEVICES
    return is_number(value) if fact.type == "int" else value in fact.values


def is_number(text: str) -> bool:
    """Whether a whole-number fact can have this value."""
    return re.fullmatch(r"[0-9]{1,9}", text) is not None


def _fit(chosen: Sequence[Mapping[str, Restriction]], domains: Mapping[str, Cells]) -> bool:
    """Whether clauses hold together: each variable is restricted on its own, so each has to have a
    cell left.
    """
    for name, cells in domains.items():
        restrictions = [clause[name] for clause in chosen if name in clause]
        if not any(_allow(restrictions, cell) for cell in cells):
            return False
    return True


def _allow(restrictions: Sequence[Restriction], cell: Cell) -> bool:
    return all(restriction.allows(cell.value) for restriction in restrictions)


def _domains(
    index: RecordIndex, parsed: Sequence[Condition], fixed: Mapping[str, Value]
) -> dict[str, Cells]:
    domains: dict[str, Cells] = {}
    for name, cuts in all_cuts(parsed).items():
        domains[name] = (Cell(fixed[name]),) if name in fixed else _cells(index, name, cuts)
    return domains


def _cells(index: RecordIndex, name: str, cuts: tuple[str, ...]) -> Cells:
    if name == "device":
        return tuple(Cell(device) for device in DEVICES)
    fact = index.facts.get(name)
    if fact is not None:
        if fact.type == "int":
            return conditions.intervals(cuts, int, -1)
        return tuple(map(Cell, fact.values))
    released = index.releases[name]
    if released:
        return (Cell(None), *conditions.releases(cuts, released))
    return (Cell(None), *conditions.intervals(cuts, key, FIRST))


def stock_world(index: RecordIndex) -> dict[str, Value]:
    """An environment outside any vendor's image."""
    return {name: None for name, package in index.packages.items() if package.stock is not None}


def worlds_of(index: RecordIndex, package: str) -> Iterator[tuple[str, dict[str, Value]]]:
    """Every release of a package with what certainly comes with it: an image's contents, no
    other image.

    A pre-release in an image stays undecided: it lies between two releases.
    """
    outside = stock_world(index)
    for release in index.releases[package]:
        world: dict[str, Value] = {**outside, package: key(release)}
        if index.packages[package].stock is not None:
            for name, version in index.packages[package].releases[release].with_.items():
                final = re.fullmatch(r"([0-9]+(?:\.[0-9]+)*)(\+.*)?", version)
                if final is not None:
                    world[name] = key(final[1])
        yield release, world
