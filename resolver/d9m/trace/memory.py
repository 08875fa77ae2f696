"""Storages of a process whose content differs between the runs, each with the causes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

_DIGEST = re.compile(r"([0-9a-f]+|-)(?:([.uvnxr+])(\d{1,18}))?\Z")

NO_CONTENT = "-"
"""In the place of a digest: of what has no content, or none that can be read."""

MOST = 50_000
"""Storages that are followed before those that nothing touched are forgotten."""

_NONE: frozenset[int] = frozenset()


class Bits(msgspec.Struct, frozen=True):
    """The parts of a digest: content, how it came there, and the storage that holds it."""

    content: str
    letter: str = ""
    storage: int | None = None


def bits(digest: str) -> Bits:
    content, dot, storage = digest.partition(".")
    if dot and storage.isdecimal() and len(storage) <= 18:
        return Bits(content, dot, int(storage))
    found = _DIGEST.match(digest)
    if found is None:
        return Bits(digest)
    content, letter, storage = found.groups()
    return Bits(content, letter or "", None if storage is None else int(storage))


def differing(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, Bits, Bits]]:
    """Place and both sides of what has other content."""
    for place, (one, other) in enumerate(zip(a, b)):
        if one != other:
            mine, its = bits(one), bits(other)
            if mine.content != its.content:
                yield place, mine, its


def both(a: Sequence[str], b: Sequence[str]) -> list[tuple[Bits, Bits]]:
    """Return what was written in each run, side by side."""
    return [(bits(one), bits(other)) for one, other in zip(a, b)]


def both_contents(a: Sequence[str], b: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what was read in each run, without its storages."""
    return [bits(one).content for one in a], [bits(other).content for other in b]


class TaintMap:
    """Storage of run A -> the causes of its difference."""

    def __init__(self) -> None:
        self._of: dict[int, frozenset[int]] = {}
        self._before: dict[int, frozenset[int]] = {}
        """Those that were not seen of late."""
        self._sets: dict[frozenset[int], frozenset[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._of or self._before)

    def of(self, storage: int | None) -> frozenset[int]:
        if storage is None:
            return _NONE
        found = self._of.get(storage)
        if found is None and storage in self._before:
            found = self._of[storage] = self._before.pop(storage)
        return found or _NONE

    def alive(self) -> set[int]:
        return set[int]().union(*self._of.values(), *self._before.values())

    def put(self, storage: int | None, causes: Iterable[int]) -> None:
        found = frozenset(causes)
        if storage is not None and found:
            self._of[storage] = self._sets.setdefault(found, found)

    def clear(self, storage: int | None) -> None:
        if storage is not None:
            self._of.pop(storage, None)
            self._before.pop(storage, None)

    def step_ends(self) -> None:
        """Nothing says that memory was freed: forget what was not seen for long, if it is much."""
        if len(self._of) > MOST:
            self._before, self._of = self._of, {}

    def written(self, outputs: Iterable[tuple[Bits, Bits]], causes: Iterable[int]) -> None:
        """Note what was written: what differs is tainted, what is equal and whole no longer is."""
        found = frozenset(causes)
        for mine, its in outputs:
            if mine.content != its.content:
                self.put(
                    mine.storage, found | self.of(mine.storage) if mine.letter == "+" else found
                )
            elif mine.letter != "+":
                self.clear(mine.storage)
