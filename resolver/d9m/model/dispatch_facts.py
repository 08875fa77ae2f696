"""Which operators the public ops of a framework end in, from release to release: the types of
``evidence/dispatch-*.json``, and of the files that the scripts in ``tests/dispatch/`` write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from d9m.model.versions import in_order
from d9m.model.wheel_facts import WheelFact, canonical, places, spans

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

    def at(self, release: str) -> DispatchTrace:
        """The trace of one release that was run."""
        return DispatchTrace(
            self.package,
            release,
            self._held(self.ops, release),
            self._held(self.aliases, release),
            sorted(self._held(self.idle, release)),
        )

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
            _spanned(releases, [each.ops for each in traces]),
            _spanned(releases, [each.aliases for each in traces]),
            _spanned(releases, [dict.fromkeys(each.idle, True) for each in traces]),
        )

    def encoded(self) -> bytes:
        return canonical(self)

    def _held(self, spanned: Mapping[str, Mapping[str, Any]], release: str) -> dict[str, Any]:
        place = self.releases.index(release)
        found: dict[str, Any] = {}
        for span, named in spanned.items():
            if place in places(self.releases, span):
                found.update(named)
        return found


def _spanned(
    releases: Sequence[str], known: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Spans -> name -> what is known of it in them. `known`: for each release."""
    found: dict[str, dict[str, Any]] = {}
    for name in sorted(set[str]().union(*known)):
        held = [named.get(name) for named in known]
        distinct: list[Any] = []
        for value in held:
            if value is not None and value not in distinct:
                distinct.append(value)
        for value in distinct:
            span = spans(releases, [each == value for each in held])
            found.setdefault(span, {})[name] = value
    return found
