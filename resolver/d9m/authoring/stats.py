"""How much is known, and what is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.authoring.public_share import PublicShare
from d9m.browse.show import source_history
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import WORST_LAST
from d9m.model.records import Outcome


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `d9m kb stats`."""

    schema_version: int = SCHEMA_VERSION
    date: str
    digest: str
    records: dict[str, int]
    """Kind -> number of records."""
    ops: dict[str, int]
    """Package -> names in its catalogue."""
    releases: dict[str, int]
    outcomes: dict[Outcome, int]
    """Outcome -> ranges of releases with it, over all sources."""
    unprobed: list[str]
    """Sources that no probe exercises."""
    public: list[PublicShare] = []

    def text(self) -> str:
        lines = [f"edition {self.date}, digest {self.digest[:12]}"]
        lines += _counted("", 16, self.records)
        lines += _counted("ops of ", 20, self.ops)
        lines += _counted("releases of ", 20, self.releases)
        lines += [share.text() for share in self.public]
        lines += _counted("ranges ", 16, self.outcomes)
        lines.append(f"sources without a probe: {len(self.unprobed)}")
        lines += [f"  {id_}" for id_ in self.unprobed]
        return "\n".join(lines) + "\n"


def _counted(what: str, width: int, counts: Mapping[Any, int]) -> list[str]:
    """A line each, but for what there is nothing of."""
    return [f"{what}{name:{width}}{count:6}" for name, count in counts.items() if count]


def stats(kb: KnowledgeBase, probed: Collection[str], public: Sequence[PublicShare] = ()) -> Stats:
    """Counts over the whole knowledge base. `probed`: sources that a probe exercises."""
    found: Counter[Outcome] = Counter()
    for id_ in kb.sources:
        found.update(span.outcome for span in source_history(kb, id_).ranges)
    catalogued = [place for place in kb.ops if kb.ops[place].catalogued]
    return Stats(
        date=kb.meta.date,
        digest=kb.meta.digest,
        records=kb.meta.counts,
        ops=dict(Counter(place.partition(":")[0] for place in catalogued)),
        releases={name: len(kb.releases(name)) for name in kb.packages},
        outcomes={outcome: found[outcome] for outcome in WORST_LAST if found[outcome]},
        unprobed=[id_ for id_ in kb.sources if id_ not in probed],
        public=list(public),
    )
