"""Collectives of one process: what it sent, and by which one a difference came in."""

from __future__ import annotations

from collections.abc import Iterable

from d9m.trace.cause_candidates import Arrival
from d9m.trace.memory import TaintMap, bits
from d9m.trace.stream_records import CalledCollective, Name


class CollectiveTracker:
    def __init__(self, taints: TaintMap) -> None:
        self.sent: dict[tuple[Name, int], frozenset[int]] = {}
        """Group and number of a collective -> causes of what this process put in, if it differed.
        """
        self._taints = taints
        self._writers: dict[int, Arrival] = {}
        self._last: Arrival | None = None

    def called(self, collective: CalledCollective, blame: set[int]) -> None:
        arrival = Arrival(collective.op, collective.group, collective.number)
        self._last = arrival
        if blame:
            self.sent[collective.group, collective.number] = frozenset(blame)
        for storage in collective.writes:
            self._writers[storage] = arrival
            self._taints.clear(storage)

    def brought(self, storage: int | None) -> Arrival | None:
        """Return the collective that probably wrote a storage."""
        return self._writers.get(-1 if storage is None else storage, self._last)

    def lands(self, outputs: Iterable[str]) -> Arrival | None:
        """Return the collective of which one of these outputs is the result: a backend may copy
        there what it received into memory that only it knows.
        """
        storages = (bits(text).storage for text in outputs)
        return next((self._writers[each] for each in storages if each in self._writers), None)
