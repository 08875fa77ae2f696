# pyright: basic
"""Digests of what goes into a function of JAX and what comes out, and numbers of its arrays.

What a function of JAX has returned never changes: it is its own storage, with one number as long as
it lives, and is read once.
"""

from __future__ import annotations

import weakref

NONE = "-"
"""Stands for an array without content: it was donated, or other processes hold it."""

PLAIN = (str, bytes, int, float, bool, complex, type(None))


class Arrays:
    """Reads arrays where they are. No computation of JAX is started for it."""

    def __init__(self, jax, digester) -> None:
        self._array = jax.Array
        self._digester = digester
        self._numbers: dict = {}
        """Identity -> a weak reference, the number, and the digest of what a call has returned."""
        self._count = 0
        self.device = "cpu"
        """The kind of device that the last array was on."""
        self.gpu: str | None = None

    def is_array(self, value) -> bool:
        return isinstance(value, self._array)

    def read(self, value) -> str:
        """The text of an input. An array that no recorded call has returned came from outside, and
        can share memory with one of NumPy's that changes: it is read each time.
        """
        if not self.is_array(value):
            return self._other(value)
        known = self._known(value)
        if known is None:
            return f"{self.digest(value)}n{self._learn(value, None)}"
        _reference, number, digest = known
        return f"{digest or self.digest(value)}.{number}"

    def wrote(self, value) -> str:
        """The text of an output."""
        if not self.is_array(value):
            return self._other(value)
        digest, known = self.digest(value), self._known(value)
        number = self._learn(value, digest) if known is None else known[1]  # or given back
        return f"{digest}.{number}"

    def digest(self, array) -> str:
        array = getattr(array, "_base_array", array)  # of a key
        parts = [self._of_one(part) for part in self._parts(array)]
        if len(parts) == 1:
            return parts[0]
        return self._digester.of(" ".join(parts).encode()) if parts else NONE

    def _parts(self, array) -> list:
        """The arrays that hold it, each on one device; of copies, one."""
        if array.is_deleted():
            return []
        if array.is_fully_replicated:
            return [array.addressable_data(0)]
        return [shard.data for shard in array.addressable_shards]

    def _of_one(self, array) -> str:
        """Of an array on one device."""
        if not array.nbytes:
            return self._digester.of(b"")
        self._look_at(next(iter(array.devices())))
        if self.device == "cpu":
            array.block_until_ready()
            return self._digester.at(array.unsafe_buffer_pointer(), array.nbytes)
        return self._digester.of(array.__array__().tobytes())

    def _look_at(self, device) -> None:
        kind = device.platform
        if kind == "gpu":
            version = getattr(device.client, "platform_version", "")
            kind = "rocm" if "rocm" in version.lower() else "cuda"
            self.gpu = str(device.device_kind)
        self.device = kind

    def _other(self, value) -> str:
        if hasattr(value, "tobytes"):
            return self._digester.of(value.tobytes())
        if isinstance(value, PLAIN):
            return self._digester.of(repr(value).encode())
        return self._digester.of(type(value).__name__.encode())

    def _known(self, array):
        known = self._numbers.get(id(array))
        return known if known is not None and known[0]() is array else None

    def _learn(self, array, digest: str | None) -> int:
        key, number, numbers = id(array), self._count, self._numbers
        self._count += 1

        def gone(reference) -> None:
            if numbers.get(key, (None,))[0] is reference:
                del numbers[key]

        numbers[key] = weakref.ref(array, gone), number, digest
        return number
