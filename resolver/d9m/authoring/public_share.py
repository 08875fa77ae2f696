"""Of how many public names of a framework something is known: a record, or what they end in.

A name counts if it computes. It does not count where a run of that release showed otherwise: it
is a type (but a layer or an optimizer), a module, a property or a constant; or no call of it
reached an operator other than a view or an allocation, and no record names it. What was never run
counts.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.dispatch_facts import DispatchCatalogue
from d9m.model.op_syntax import plain
from d9m.model.wheel_facts import Catalogue, catalogues, read_all

_METHOD = ".Tensor."


class PublicShare(msgspec.Struct, frozen=True):
    """The catalogue of one release."""

    package: str
    release: str
    names: int
    idle: int
    """They compute nothing."""
    recorded: int
    """A record or a reach has the name."""
    traced: int
    """No record has it; it was traced, and ends in operators without a source."""
    open: dict[str, int]
    """Namespace -> names of which nothing is known, most first."""

    @property
    def known(self) -> float:
        """Percent of the names that compute."""
        return 100 * (self.recorded + self.traced) / max(1, self.names - self.idle)

    def text(self) -> str:
        spaces = ", ".join(f"{space} {number}" for space, number in self.open.items())
        return (
            f"public names of {self.package} {self.release}: {self.names}, of which {self.idle}"
            f" compute nothing; of the others known {self.known:.1f} % ({self.recorded} recorded,"
            f" {self.traced} traced); open: {spaces or 'none'}"
        )


def public_shares(kb: KnowledgeBase, root: Path) -> list[PublicShare]:
    """Every release in the catalogue of a traced framework, from the first that was traced."""
    found: list[PublicShare] = []
    listed = catalogues(root)
    for dispatched in read_all(root, "evidence/dispatch-*.json", DispatchCatalogue):
        catalogue = listed.get(dispatched.package)
        if catalogue is not None:
            first = catalogue.releases.index(dispatched.releases[0])
            for release in catalogue.releases[first:]:
                found.append(_share(kb, catalogue, dispatched, release))
    return found


def _share(
    kb: KnowledgeBase, catalogue: Catalogue, dispatched: DispatchCatalogue, release: str
) -> PublicShare:
    traced: set[str] = set()
    quiet: set[str] = set()
    idle: set[str] = set()
    for trace in dispatched.around(release):
        idle.update(trace.idle)
        for name, ways in trace.ops.items():
            (traced if any(ways.values()) else quiet).update(_spellings(name))
        for name, op in trace.aliases.items():
            (traced if any(trace.ops.get(op, {}).values()) else quiet).update(_spellings(name))
    recorded, ended, nothing = 0, 0, 0
    open_: Counter[str] = Counter()
    names = catalogue.at(release)
    for name in names:
        spellings = _spellings(name)
        if any(kb.names.get(f"{catalogue.package}:{each}") for each in spellings):
            recorded += 1
        elif spellings & traced:
            ended += 1
        elif name in idle or spellings & quiet:
            nothing += 1
        else:
            open_[name.rpartition(".")[0]] += 1
    return PublicShare(
        catalogue.package,
        release,
        len(names),
        nothing,
        recorded,
        ended,
        dict(open_.most_common()),
    )


def _spellings(name: str) -> set[str]:
    """A method does what the function of its name does, and its form in place, too."""
    return {plain(name), plain(name.replace(_METHOD, "."))}
