# pyright: basic
"""Batches of a DataLoader, and the indices that picked them, seen where the program asks."""

from __future__ import annotations

import functools
import weakref

PLAIN = (str, bytes, int, float, bool, complex, type(None))


def begin(module, session, steps) -> None:
    """Wrap the two methods that every DataLoader's iterator has."""
    iterator = module._BaseDataLoaderIter
    loaders = _Loaders()
    picked, taken = iterator._next_index, iterator.__next__

    @functools.wraps(picked)
    def pick(self):
        indices = picked(self)
        if session.on:
            session.guarded("indices", write_indices, self, indices)
        return indices

    @functools.wraps(taken)
    def take(self):
        batch = taken(self)
        if session.on:
            session.guarded("a batch", write_batch, self, batch)
        return batch

    def write_indices(self, indices) -> None:
        if indices is not None and not _empty(indices):
            digest = session.digester.of(repr(indices).encode())
            session.record("x", loaders.name(self), digest)

    def write_batch(self, batch) -> None:
        digests = [_digest(leaf, session, steps) for leaf in leaves(batch)]
        session.record("b", loaders.name(self), digests)

    iterator._next_index, iterator.__next__ = pick, take

    def off() -> None:
        iterator._next_index, iterator.__next__ = picked, taken

    steps.at_end(off)


def _empty(indices) -> bool:
    """Of a dataset that is iterated: its sampler says nothing."""
    return isinstance(indices, list) and all(index is None for index in indices)


class _Loaders:
    """Numbers of loaders, by their dataset, in the order in which they were first asked."""

    def __init__(self) -> None:
        self._known: dict = {}
        self._count = 0

    def name(self, iterator) -> str:
        dataset = iterator._dataset
        number, reference = self._known.get(id(dataset), (None, None))
        if number is None or (reference is not None and reference() is not dataset):
            number = self._count
            self._count += 1
            self._known[id(dataset)] = number, _reference(dataset)
        return str(number)


def _reference(dataset):
    """A weak one; None of a list and the like, which are known by their address alone."""
    try:
        return weakref.ref(dataset)
    except TypeError:
        return None


def leaves(batch) -> list:
    """Return what a batch holds, whatever it is packed in: the order is that of its containers."""
    found: list = []
    _gather(batch, found, 0)
    return found


def _gather(value, found: list, depth: int) -> None:
    inside = None
    if isinstance(value, dict):
        inside = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple)):
        inside = None if all(isinstance(element, PLAIN) for element in value) else value
    elif hasattr(value, "__dataclass_fields__"):
        inside = [getattr(value, name) for name in value.__dataclass_fields__]
    elif hasattr(value, "keys") and hasattr(value, "__getitem__"):
        inside = list(map(value.__getitem__, value.keys()))
    if inside is None or depth > 20:
        found.append(value)
        return
    for element in inside:
        _gather(element, found, depth + 1)


def _digest(leaf, session, steps) -> str:
    if hasattr(leaf, "untyped_storage") or hasattr(leaf, "is_sparse"):
        return steps.text(leaf)
    if hasattr(leaf, "tobytes"):
        return session.digester.of(leaf.tobytes())
    if isinstance(leaf, (*PLAIN, list, tuple)):
        return session.digester.of(repr(leaf).encode())
    return session.digester.of(type(leaf).__name__.encode())
