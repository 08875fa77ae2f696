"""Of how many public names of a framework something is known: a record, or what they end in."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.dispatch_facts import DispatchTrace
from d9m.model.op_syntax import plain
from d9m.model.wheel_facts import Catalogue, catalogues, read_all

_METHOD = ".Tensor."


class PublicShare(msgspec.Struct, frozen=True):
    """The catalogue of one release."""

    package: str
    release: str
    names: int
    recorded: int
    """A record or a reach has the name."""
    traced: int
    """No record has it; it was traced, and ends in operators without a source."""
    open: dict[str, int]
    """Namespace -> names of which nothing is known, most first."""

    def text(self) -> str:
        known = 100 * (self.recorded + self.traced) / max(1, self.names)
        spaces = ", ".join(f"{space} {number}" for space, number in self.open.items())
        return (
            f"public names of {self.package} {self.release}: {self.names}, known {known:.1f} %"
            f" ({self.recorded} recorded, {self.traced} traced); open: {spaces}"
        )


def public_shares(kb: KnowledgeBase, root: Path) -> list[PublicShare]:
    """The first release of each traced framework's major version, the one that was traced, and the
    newest.
    """
    found: list[PublicShare] = []
    listed = catalogues(root)
    for trace in read_all(root, "evidence/dispatch/*.json", DispatchTrace):
        catalogue = listed[trace.package]
        major = trace.version.partition(".")[0]
        same = [each for each in catalogue.releases if each.partition(".")[0] == major]
        for release in dict.fromkeys((same[0], trace.version, same[-1])):
            found.append(_share(kb, catalogue, trace, release))
    return found


def _share(
    kb: KnowledgeBase, catalogue: Catalogue, trace: DispatchTrace, release: str
) -> PublicShare:
    traced = {spelling for name in (*trace.ops, *trace.aliases) for spelling in _spellings(name)}
    recorded, ended = 0, 0
    open_: Counter[str] = Counter()
    names = catalogue.at(release)
    for name in names:
        spellings = _spellings(name)
        if any(kb.names.get(f"{catalogue.package}:{each}") for each in spellings):
            recorded += 1
        elif spellings & traced:
            ended += 1
        else:
            open_[name.rpartition(".")[0]] += 1
    return PublicShare(
        catalogue.package, release, len(names), recorded, ended, dict(open_.most_common())
    )


def _spellings(name: str) -> set[str]:
    """A method does what the function of its name does, and its form in place, too."""
    return {plain(name), plain(name.replace(_METHOD, "."))}
