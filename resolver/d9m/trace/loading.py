"""Batches: other indices are another order, and other content for equal indices is other data."""

from __future__ import annotations

from collections import defaultdict, deque

from d9m.trace.align import Matched
from d9m.trace.cause_candidates import CauseCandidate, CauseCandidates
from d9m.trace.memory import TaintMap, bits, differing
from d9m.trace.stream_records import BatchContent, BatchIndices, Name


class Loading:
    """The data loaders of one process, in both runs."""

    def __init__(self, suspects: CauseCandidates, taints: TaintMap) -> None:
        self._suspects = suspects
        self._taints = taints
        self._picked: defaultdict[Name, deque[set[int]]] = defaultdict(deque)
        """Loader -> causes of the indices whose batch is still to come."""
        self.now: set[int] | None = None
        """While a batch is being made: the causes of its indices."""

    def picked(self, at: Matched, a: BatchIndices, b: BatchIndices) -> None:
        blame: set[int] = set()
        if a.digest != b.digest:
            suspect = CauseCandidate("data-order", at.a.step, at.a.number, name=str(a.loader))
            blame = {self._suspects.add(at, suspect, (a.loader,))}
            self._suspects.reach("data", at.a.step, blame)
        self._picked[a.loader].append(blame)
        self.now = self._picked[a.loader][0]

    def came(self, at: Matched, a: BatchContent, b: BatchContent) -> None:
        self.now = None
        picked = self._picked[a.loader]
        blame = picked.popleft() if picked else set[int]()
        others = list(differing(a.digests, b.digests))
        known = {cause for _place, mine, _its in others for cause in self._taints.of(mine.storage)}
        if others and not known and not blame:
            suspect = CauseCandidate("data-content", at.a.step, at.a.number, name=str(a.loader))
            blame = {self._suspects.add(at, suspect, (a.loader,))}
        if others:
            self._suspects.reach("data", at.a.step, known | blame)
        for _place, mine, _its in others:
            self._taints.put(mine.storage, self._taints.of(mine.storage) | blame)
        for digest in a.digests:
            mine = bits(digest)
            if mine.storage not in {found.storage for _place, found, _its in others}:
                self._taints.clear(mine.storage)
