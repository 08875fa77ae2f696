"""Parse `when`: the releases, facts and devices for which something holds.

Records, answers and questions write conditions as plain values. The condition of a record is parsed
once, on first use.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from d9m.model.versions import Key, key


class Range(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Releases (or integers) ``from <= x < until``; ``{}`` means present, in any release."""

    from_: str | None = msgspec.field(name="from", default=None)
    until: str | None = None


Allowed: TypeAlias = str | list[str] | Range
"""The values that a ``when`` allows for one variable: one, one of several, or a range. A package: a
range, or ``absent``.
"""

Clause: TypeAlias = dict[str, Allowed]
"""Variables (package, fact, argument or ``device``) that must all be as allowed."""

When: TypeAlias = Clause | list[Clause]
"""A clause, or several of which one must hold. Empty: always."""

ABSENT = "absent"
"""The value for a package that must not be there."""

Value: TypeAlias = Key | str | int | None
"""A variable in one world: a release's key, a fact's value, or None for an absent package."""

World: TypeAlias = Mapping[str, Value]

Cuts: TypeAlias = Mapping[str, tuple[str, ...]]
"""Variables that a condition restricts, with the bounds at which it divides them."""


class Restriction(msgspec.Struct, frozen=True):
    """The restriction of one variable by one clause."""

    values: tuple[str, ...] = ()
    """One of these; empty where ``bounded``."""
    bounded: bool = False
    from_: str | None = None
    until: str | None = None

    def bounds(self) -> tuple[str, ...]:
        """Return the points that divide an ordered domain; a single number is an interval too."""
        found: list[str] = []
        for value in self.values:
            if value.isascii() and value.isdecimal() and len(value) <= 18:
                found += [value, str(int(value) + 1)]
        found += [bound for bound in (self.from_, self.until) if bound is not None]
        return tuple(found)

    def allows(self, value: Value) -> bool:
        if not self.bounded:
            return (ABSENT if value is None else str(value)) in self.values
        if value is None:
            return False
        low = True if self.from_ is None else _place(self.from_, value) <= value  # type: ignore[operator]
        return low and (self.until is None or value < _place(self.until, value))  # type: ignore[operator]


def _place(bound: str, like: Value) -> Key | int:
    return int(bound) if isinstance(like, int) else key(bound)


class Condition(msgspec.Struct, frozen=True, dict=True):
    """Where something holds."""

    clauses: tuple[Mapping[str, Restriction], ...]
    """One of which must hold. One without restrictions always does."""

    @functools.cached_property
    def cuts(self) -> Cuts:
        return cuts([self])

    def excludes(self, name: str, value: Value) -> bool:
        """Whether it cannot hold where one variable has this value, whatever else is true."""
        for clause in self.clauses:
            restriction = clause.get(name)
            if restriction is None or restriction.allows(value):
                return False
        return True

    def holds(self, world: World) -> bool:
        """Whether it holds in a world; a variable that the world lacks is an absent package."""
        for clause in self.clauses:
            for name, restriction in clause.items():
                if not restriction.allows(world[name]):
                    break
            else:
                return True
        return False


def placed(when: When) -> list[tuple[tuple[int, ...], Clause]]:
    """The clauses of a `when`, each with its place in it."""
    if isinstance(when, list):
        return [((place,), clause) for place, clause in enumerate(when)]
    return [((), when)]


def clauses(when: When) -> list[Clause]:
    """The clauses of a `when`, of which one must hold."""
    return [clause for _place, clause in placed(when)]


def parse(when: When) -> Condition:
    """The typed form of a `when`."""
    return Condition(
        tuple(
            {name: restriction(allowed) for name, allowed in clause.items()}
            for clause in clauses(when)
        )
    )


def restriction(allowed: Allowed) -> Restriction:
    if isinstance(allowed, Range):
        return Restriction(bounded=True, from_=allowed.from_, until=allowed.until)
    return Restriction(values=(allowed,) if isinstance(allowed, str) else tuple(allowed))


def cuts(conditions: Iterable[Condition]) -> dict[str, tuple[str, ...]]:
    """Every variable that the conditions restrict, with all bounds at which they divide it."""
    found: dict[str, set[str]] = {}
    for condition in conditions:
        for clause in condition.clauses:
            for name, restricted in clause.items():
                found.setdefault(name, set()).update(restricted.bounds())
    return {name: tuple(sorted(bounds)) for name, bounds in found.items()}
