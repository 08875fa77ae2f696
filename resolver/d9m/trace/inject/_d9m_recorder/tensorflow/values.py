# pyright: basic
"""Digests of TensorFlow's values: eager tensors, variables, and what holds several of them."""

from __future__ import annotations

import contextlib

NONE = "-"
"""Stands for a value without content that can be read, or for none at all."""

OPAQUE = ("resource", "variant")
"""Types of tensors that only stand for something else: an iterator, a table."""


class Values:
    """Makes digests. Nothing that it runs comes by a callback or a tape of the program."""

    def __init__(self, tensorflow, session) -> None:
        self._tensorflow = tensorflow
        self._digester = session.digester
        self._silent = _silencer()
        self._eager_tensor = _eager_tensor()
        self.reading = False
        """Whether ops run right now that are not the program's: a variable is read for a digest."""

    def digest(self, value) -> str:
        """Of a tensor, a variable, or a sparse one; None has none."""
        if value is None:
            return NONE
        if isinstance(value, self._eager_tensor):
            return self.of_tensor(value)
        if hasattr(value, "indices") and hasattr(value, "values"):
            return self.joined([self.digest(value.indices), self.digest(value.values)])
        handle = self.handle(value)
        if handle is not None:
            return self.of_variable(handle)
        if hasattr(value, "flat_values") and hasattr(value, "nested_row_splits"):
            parts = [value.flat_values, *value.nested_row_splits]
            return self.joined([self.digest(part) for part in parts])
        if hasattr(value, "tobytes"):
            return self._digester.of(value.tobytes())
        return NONE

    def quietly(self, act):
        """Return what `act` returns; ops that it runs are not the program's."""
        was_reading, self.reading = self.reading, True
        try:
            return act()
        finally:
            self.reading = was_reading

    def joined(self, digests: list) -> str:
        return self._digester.of(" ".join(digests).encode()) if digests else NONE

    def is_tensor(self, value) -> bool:
        return isinstance(value, self._eager_tensor)

    def of_tensor(self, tensor) -> str:
        kind = tensor.dtype
        if is_opaque(tensor):
            return NONE
        found = tensor._numpy()
        if kind.name == "string":
            texts = [found] if isinstance(found, bytes) else found.ravel().tolist()
            return self._digester.of(repr(texts).encode())
        if hasattr(found, "ctypes") and found.flags.c_contiguous:
            return self._digester.at(found.ctypes.data, found.nbytes)
        return self._digester.of(found.tobytes())

    def of_variable(self, handle) -> str:
        """Return what the variable holds now; NONE, if nothing was assigned to it yet."""
        kind = variable_type(handle)
        if kind is None:
            return NONE
        return self.quietly(lambda: self._read(handle, kind))

    def _read(self, handle, kind) -> str:
        raw = self._tensorflow.raw_ops
        with self._tensorflow.init_scope(), self._silent():
            if not raw.VarIsInitializedOp(resource=handle):
                return NONE
            return self.of_tensor(raw.ReadVariableOp(resource=handle, dtype=kind))

    def handle(self, variable):
        """The tensor that stands for a variable of TensorFlow's or of Keras'; None for anything
        else, and for one that lives on several devices.
        """
        for _wrapped in range(3):
            found = getattr(variable, "handle", None)
            if isinstance(found, self._eager_tensor):
                return found
            variable = getattr(variable, "_value", None)
        return None


def is_opaque(tensor) -> bool:
    return tensor.dtype.name in OPAQUE


def is_variant(tensor) -> bool:
    """Whether it stands for something that never changes, as a data set or a list of tensors."""
    return tensor.dtype.name == "variant"


def variable_type(handle) -> object:
    """The type of what a handle's variable holds; None, if the handle stands for something else."""
    about = getattr(handle, "_handle_data", None)
    if about is None or not about.is_set or len(about.shape_and_type) != 1:
        return None
    return about.shape_and_type[0].dtype


def _silencer():
    """Return what keeps tapes from recording; its place has moved."""
    from tensorflow.python.eager import tape  # pyright: ignore[reportMissingImports]

    if hasattr(tape, "stop_recording"):
        return tape.stop_recording
    try:
        from tensorflow.python.eager import record  # pyright: ignore[reportMissingImports]
    except ImportError:
        return contextlib.nullcontext
    return record.stop_recording


def _eager_tensor():
    from tensorflow.python.framework import ops  # pyright: ignore

    return ops.EagerTensor
