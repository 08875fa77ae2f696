# pyright: basic
"""Eager tensors and variables, followed through a recording: which were seen before, and what they
held then. An eager tensor is known by its number in TensorFlow, a variable by that of its handle.
"""

from __future__ import annotations

import weakref

from .values import NONE, is_opaque, is_variant, variable_type

GROWTH = 50_000
"""Tensors that may come until those that are gone are looked for."""


class Known:
    __slots__ = ("alive", "digest", "number")

    def __init__(self, number: int, digest: str, alive) -> None:
        self.number = number
        self.digest = digest
        self.alive = alive
        """A weak reference: None, once the tensor is gone."""


class Memories:
    """Digests of values, each with a letter and a number: those of `torch.memory`."""

    def __init__(self, values, session) -> None:
        self._values = values
        self._cached = session.settings.inputs == "cached"
        self._width = session.digester.width
        self._known: dict = {}
        self._count = 0
        self._limit = GROWTH

    def read(self, value) -> str:
        """Of what is given to an op, or of a state."""
        if value is None:
            return NONE
        handle = None if self._values.is_tensor(value) else self._values.handle(value)
        if handle is not None:
            return self.variable(handle)
        if not self._values.is_tensor(value):
            return self._values.digest(value)
        if variable_type(value) is not None:
            return self.variable(value)
        known = self._known.get(value._id)
        if known is not None and (self._cached or is_opaque(value)):
            return f"{known.digest}.{known.number}"
        return self._seen(value, self._values.of_tensor(value), "n")

    def variable(self, handle) -> str:
        """Of what a variable holds now, whatever was known of it."""
        return self._seen(handle, self._values.of_variable(handle), "n")

    def made(self, tensor) -> str:
        """Of a tensor that an op returned."""
        return self._seen(tensor, self._values.of_tensor(tensor), ".", changed=".")

    def stands_for(self, tensor, parts: list) -> str:
        """Of a tensor without content that an op returned: it differs if that op's inputs did."""
        return self._seen(tensor, self._values.joined(parts), ".", changed=".")

    def all_made(self, tensors, call: str, read: list) -> list:
        """Of all that a call returned, which read what `read` says."""
        found = [NONE if is_opaque(tensor) else self.made(tensor) for tensor in tensors]
        parts = [call, *(text[: self._width] for text in (*read, *found))]
        return [
            self.stands_for(tensor, parts) if is_variant(tensor) else text
            for tensor, text in zip(tensors, found)
        ]

    def wrote(self, handle) -> str:
        """Of a variable that an op has written."""
        return self._seen(handle, self._values.of_variable(handle), ".", changed=".")

    def before(self, handle) -> str | None:
        """Of a variable as it was when it was last seen; None, if it never was."""
        known = self._known.get(handle._id)
        return None if known is None else f"{known.digest}.{known.number}"

    def _seen(self, tensor, digest: str, new: str, changed: str = "x") -> str:
        if digest == NONE:
            return NONE
        known = self._known.get(tensor._id)
        if known is None:
            if len(self._known) > self._limit:
                self.sweep()
            known = self._known[tensor._id] = Known(self._count, digest, weakref.ref(tensor))
            self._count += 1
            return f"{digest}{new}{known.number}"
        letter = "." if known.digest == digest else changed
        known.digest = digest
        return f"{digest}{letter}{known.number}"

    def sweep(self) -> None:
        """Forget tensors that are gone."""
        self._known = {
            key: known for key, known in self._known.items() if known.alive() is not None
        }
        self._limit = 2 * len(self._known) + GROWTH
