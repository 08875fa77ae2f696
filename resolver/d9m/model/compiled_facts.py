"""How a compiler lowers operators, from release to release: the type of
``evidence/compiled-*.json``.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from d9m.model.versions import in_order
from d9m.model.wheel_facts import WheelFact, held, spanned

Effect = Literal["atomic-add", "split-scan", "tuned", "own-random"]
"""It adds with atomics; it scans in parts that wait for each other; it takes the kernel that was
fastest; it draws other random numbers than uncompiled code.
"""


class Lowering(WheelFact, frozen=True, order=True):
    """One effect that compiling an operator has."""

    op: str
    """``index_put``, in place or not."""
    effect: Effect
    gate: str = ""
    """A setting that the compiler asks first, and leaves the effect out if it is on; empty if
    nothing.
    """
    through: str = ""
    """The operator that has the effect, if it is one that this one is rewritten to."""


class CompiledCatalogue(WheelFact, frozen=True):
    """Every effect, in the releases whose wheels were read."""

    package: str
    releases: list[str] = msgspec.field(default=[])
    wheels: dict[str, dict[str, str]] = msgspec.field(default={})
    """Release -> file name of the wheel -> its SHA-256."""
    lowerings: dict[str, list[Lowering]] = msgspec.field(default={})
    """Spans (as of `Catalogue`) -> what held in them."""

    def at(self, release: str) -> set[Lowering]:
        """Return the lowerings of one release that was read."""
        return set[Lowering]().union(*held(self.releases, self.lowerings, release))

    def with_release(
        self, release: str, wheel: tuple[str, str], lowerings: set[Lowering]
    ) -> CompiledCatalogue:
        """The catalogue with one release read, or read anew; `wheel`: file name and SHA-256."""
        known = {**{each: self.at(each) for each in self.releases}, release: lowerings}
        releases = list(in_order(known))
        table = spanned(releases, [dict.fromkeys(known[each], True) for each in releases])
        found = {span: list(lowerings) for span, lowerings in table.items()}
        wheels = {**self.wheels, release: dict([wheel])}
        return CompiledCatalogue(self.package, releases, wheels, found)
