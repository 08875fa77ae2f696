# pyright: basic
"""Digests of tensors: of their bytes where they are, without an op of torch's if possible."""

from __future__ import annotations

import contextlib
import functools

NONE = "-"
"""Stands for a tensor without content, or for none at all."""


class Tensors:
    """Makes digests of tensors. What is not plain memory is split into tensors that are."""

    def __init__(self, torch, session) -> None:
        self._torch = torch
        self._digester = session.digester
        self._unseen = session.unseen
        self.silent = silent(torch)
        functorch = torch._C._functorch
        self._wrapped = getattr(functorch, "is_functorch_wrapped_tensor", _never)
        self._unwrapped = functorch.get_unwrapped

    def digest(self, tensor) -> str:
        """Of the values of a tensor, wherever it lives."""
        found = [self.of_plain(part) for part in self.parts(tensor)]
        return found[0] if len(found) == 1 else self.joined(found)

    def joined(self, digests: list) -> str:
        return self._digester.of(" ".join(digests).encode()) if digests else NONE

    def parts(self, tensor) -> list:
        """The tensors with memory that hold this one's values."""
        torch = self._torch
        kind = type(tensor)
        if hasattr(kind, "trigger_wait"):  # a collective may still be writing it
            with torch.no_grad():
                return self.parts(tensor.trigger_wait())
        if splits(kind):
            names, _context = tensor.__tensor_flatten__()
            held = [getattr(tensor, name) for name in names]
            inside = [self.parts(part) for part in held if isinstance(part, torch.Tensor)]
            return [part for parts in inside for part in parts]
        if holds_nothing(kind):
            return []
        if kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__ and not _memory(tensor):
            self._unseen("subclass")  # what it holds, only its class knows
            return []
        if self._wrapped(tensor):
            return self.parts(self._unwrapped(tensor))
        if tensor.is_nested:
            return [tensor.values()]
        if tensor.layout is torch.strided:
            return [tensor]
        if tensor.layout is torch.sparse_coo:
            return [tensor._indices(), tensor._values()]
        if tensor.layout is torch.sparse_csr or tensor.layout is torch.sparse_bsr:
            return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
        if tensor.layout is torch.sparse_csc or tensor.layout is torch.sparse_bsc:
            return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
        return [tensor.to_dense()]

    def of_plain(self, tensor) -> str:
        span = dense(tensor)
        kind = tensor.device.type
        if kind == "cpu" and span is not None:
            return self._digester.at(tensor.data_ptr(), span)
        if kind == "meta":
            return NONE
        with self.silent(), self._torch.no_grad():
            copied = compact(tensor)
            copied = copied if kind == "cpu" else copied.cpu()
        return self._digester.at(copied.data_ptr(), copied.numel() * copied.element_size())


def splits(kind) -> bool:
    """Whether tensors of this class say which others hold their values."""
    return hasattr(kind, "__tensor_flatten__")


def holds_nothing(kind) -> bool:
    """Whether it is one of the classes that torch traces programs with, such as FakeTensor."""
    return kind.__module__.startswith(("torch._subclasses.", "torch.fx.")) and not splits(kind)


def _memory(tensor) -> bool:
    """Whether a tensor has memory that can be read, or needs none."""
    try:
        return not tensor.numel() or tensor.data_ptr() != 0
    except RuntimeError:
        return False


def _never(_tensor) -> bool:
    """Whether a transform of torch.func wraps a tensor: before torch 2.1, it is not asked."""
    return False


def quiet(torch):
    """Makes contexts in which no mode, override or trace of the program sees ops and calls."""
    functions, ops = torch._C.DisableTorchFunction, silent(torch)
    tracing, trace = torch._C._get_tracing_state, torch._C._set_tracing_state

    @contextlib.contextmanager
    def made():
        state = tracing()
        if state is not None:
            trace(None)
        try:
            with functions(), ops():
                yield
        finally:
            if state is not None:
                trace(state)

    return made


def silent(torch):
    """Makes contexts in which ops are not recorded."""
    guard = torch._C._DisableTorchDispatch
    return guard if hasattr(guard, "__enter__") else functools.partial(_held, guard)


@contextlib.contextmanager
def _held(guard):
    """Before torch 2.1, a guard counts as long as it exists."""
    kept = guard()
    try:
        yield kept
    finally:
        del kept


def dense(tensor) -> int | None:
    """Bytes of the memory that the tensor covers without a gap, in whatever order; None if it has
    gaps.

    An expanded dimension holds the same memory many times, and counts once.
    """
    if tensor.is_contiguous():
        return tensor.numel() * tensor.element_size()
    count = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size == 1 or stride == 0:
            continue
        if stride != count:
            return None
        count *= size
    return count * tensor.element_size() if tensor.numel() else 0


def compact(tensor):
    """Its elements without gaps, expanded dimensions once. It may be the tensor itself."""
    for dimension, (stride, size) in enumerate(zip(tensor.stride(), tensor.shape)):
        if stride == 0 and size > 1:
            tensor = tensor.narrow(dimension, 0, 1)
    return tensor.contiguous()
