"""Which operators the public ops of a framework end in, from release to release: the types of
``evidence/dispatch-*.json``, and of the files that the scripts in ``tests/dispatch/`` write.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from d9m.model.versions import in_order
from d9m.model.wheel_facts import WheelFact, held, merged, spanned

Ways = dict[Literal["forward", "backward"], dict[str, str]]
"""Direction -> operator, with the arguments that decide whether it adds -> the argument of the op
on which it depends: ``mode=bicubic``; empty if it is always reached, ``?`` if no single argument
says so. An operator of another library than the framework's main one has its name in front:
``c10d::allreduce_``.
"""


class DispatchTrace(WheelFact, frozen=True):
    """Operators that samples of every op and layer of one release ran on the CPU or as meta."""

    package: str
    version: str
    ops: dict[str, Ways] = msgspec.field(default={})
    """Public name -> what it ends in; nothing for one that computes nothing."""
    aliases: dict[str, str] = msgspec.field(default={})
    """Another public name -> that of the op."""
    idle: list[str] = msgspec.field(default=[])
    """Public names that cannot be called to compute: types, modules, properties, constants."""
    seeded: list[str] = msgspec.field(default=[])
    """Operators that draw random numbers, as the framework itself says of them."""


class DispatchCatalogue(WheelFact, frozen=True):
    """The traces of a package, in the releases that were run."""

    package: str
    releases: list[str] = msgspec.field(default=[])
    ops: dict[str, dict[str, Ways]] = msgspec.field(default={})
    """Spans (as of `Catalogue`) -> name -> what it ends in."""
    aliases: dict[str, dict[str, str]] = msgspec.field(default={})
    """Spans -> another name -> that of the op."""
    idle: dict[str, dict[str, bool]] = msgspec.field(default={})
    """Spans -> names that cannot be called to compute."""
    seeded: dict[str, dict[str, bool]] = msgspec.field(default={})
    """Spans -> operators that draw random numbers; none for a release that was not asked."""

    def at(self, release: str) -> DispatchTrace:
        """The trace of one release that was run."""
        ops = held(self.releases, self.ops, release)
        aliases = held(self.releases, self.aliases, release)
        idle, seeded = (
            sorted(merged(held(self.releases, table, release)))
            for table in (self.idle, self.seeded)
        )
        return DispatchTrace(self.package, release, merged(ops), merged(aliases), idle, seeded)

    def traces(self) -> Iterator[DispatchTrace]:
        """One a release, the oldest first."""
        for release in self.releases:
            yield self.at(release)

    def around(self, release: str) -> list[DispatchTrace]:
        """The trace of a release; or where that was not run, those of the releases before and
        after it.
        """
        if release in self.releases:
            return [self.at(release)]
        ordered = in_order(dict.fromkeys((*self.releases, release)))
        place = ordered.index(release)
        near = (*ordered[max(0, place - 1) : place], *ordered[place + 1 : place + 2])
        return [self.at(each) for each in near]

    def with_trace(self, trace: DispatchTrace) -> DispatchCatalogue:
        """The catalogue with one release run, or run anew."""
        known = {**{each.version: each for each in self.traces()}, trace.version: trace}
        releases = in_order(known)
        traces = [known[release] for release in releases]
        return DispatchCatalogue(
            self.package,
            list(releases),
            spanned(releases, [each.ops for each in traces]),
            spanned(releases, [each.aliases for each in traces]),
            spanned(releases, [dict.fromkeys(each.idle, True) for each in traces]),
            spanned(releases, [dict.fromkeys(each.seeded, True) for each in traces]),
        )


class CpuRuns(WheelFact, frozen=True):
    """On what the results of one release depended on a CPU; each pair: how many differed, of how
    many.
    """

    package: str
    version: str
    ops: dict[str, dict[str, tuple[int, int]]]
    """Op -> what changed (``batch``, or a variable) -> shapes."""
    repeats: dict[str, dict[str, tuple[int, int]]] = msgspec.field(default={})
    """Op -> element type -> calls that differed from the first."""


class SeedRuns(WheelFact, frozen=True):
    """Whether seeds reach what takes one, in new processes on a CPU."""

    package: str
    version: str
    ops: dict[str, dict[str, Literal["equal", "differs", "raises"]]]
    """Name -> what was set (`MODES` of ``tests/dispatch/tensorflow_seeds.py``) -> its results."""
    aliases: dict[str, str] = msgspec.field(default={})
    """Another name -> that of the op."""
    unread: list[str] = msgspec.field(default=[])
    """Names that take a seed, and of which no call runs."""
