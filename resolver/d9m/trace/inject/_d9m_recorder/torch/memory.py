# pyright: basic
"""Storages, followed through a recording: what is known of their content, and who wrote it.

A storage is known by its address, which a weak reference keeps from being used again. Nothing is
attached to tensors: attributes travel into what a program saves.
"""

from __future__ import annotations

from .tensors import NONE, dense

MOST_VIEWS = 256
"""Views of one storage whose digests are kept."""

MOST_SPANS = 64
"""Written parts of one storage that are told from each other."""

PARTS = "parts"
"""Stands for the view, where a storage holds one part of a tensor's."""

GROWTH = 50_000
"""Storages that may come until those that are gone are looked for."""


class Memory:
    """One storage. `state` is the letter of an input: `.`, `u`, `v` or `r`."""

    __slots__ = ("epoch", "number", "seen", "size", "spans", "state", "weak")

    def __init__(self, number: int, size: int, weak: int) -> None:
        self.number = number
        self.size = size
        self.weak = weak
        self.epoch = 0
        """Grows with each write that is recorded."""
        self.state = "."
        self.spans: list | tuple = ()
        """In state `v`: (from, to) of the bytes that were written, in order."""
        self.seen: dict = {}
        """View -> (epoch, version, text, digest, moment) when it was last digested."""


class Memories:
    """The storages that ops have read or written, and digests of tensors that name them."""

    def __init__(self, torch, session, tensors) -> None:
        self._torch = torch
        self._tensors = tensors
        self._at = session.digester.at
        self._cached = session.settings.inputs == "cached"
        self._known: dict = {}
        self._count = 0
        self._limit = GROWTH
        self._simple = (torch.Tensor, torch.nn.Parameter)
        self._strided = torch.strided
        self._moment = 0
        """A tensor digested at one moment is not digested again: nothing but ops ran since."""

    def moves_on(self) -> None:
        """Forget what was digested at this moment: the program's code can have run since, and code
        can write memory without an op.
        """
        self._moment += 1

    # Questions of ops. Each returns the text of a record.

    def state(self, tensor) -> str:
        """Of a tensor that no op asks for: one that was learned, a batch, what a graph gets."""
        self._moment += 1
        return self.read(tensor)

    def read(self, tensor, made: bool = False) -> str:
        """Of a tensor as found: an input, or (`made`) what an op returned, new or a view."""
        plain, view = self._placed(tensor)
        if plain is None:
            found = self._read_parts(tensor)
            return found.replace("n", ".") if made else found
        storage = plain.untyped_storage()
        memory = self._known.get(storage._cdata)
        new = memory is None
        if memory is None:
            memory = self._meet(storage)
        known = memory.seen.get(view)
        if known is not None:
            if known[0] != memory.epoch:
                known = None
            elif known[4] == self._moment or (self._cached and known[1] == _version(plain)):
                return known[2]
        if len(view) == 2 and plain.is_cpu:
            digest = self._at(plain.data_ptr(), view[1] - view[0])
        else:
            digest = self._tensors.of_plain(plain)
        settled = memory.state if memory.state != "v" else self._letter(memory, view)
        text = f"{digest}{settled}{memory.number}"
        self._keep(memory, view, plain, text, digest)
        if known is not None and known[3] != digest:
            return f"{digest}x{memory.number}"
        return f"{digest}n{memory.number}" if new and not made else text

    def wrote(self, tensor) -> str:
        """Of a tensor that an op has just written."""
        plain, view = self._placed(tensor)
        if plain is None:
            return self._read_parts(tensor, wrote=True)
        memory, _new = self._find(plain)
        memory.epoch += 1
        memory.seen.clear()
        whole = self._cover(memory, view)
        if len(view) == 2 and plain.is_cpu:
            digest = self._at(plain.data_ptr(), view[1] - view[0])
        else:
            digest = self._tensors.of_plain(plain)
        text = f"{digest}.{memory.number}"
        self._keep(memory, view, plain, text, digest)
        return text if whole else f"{digest}+{memory.number}"

    def blank(self, tensor) -> str:
        """Of a tensor with uninitialised memory."""
        plain = self._plain(tensor)
        if plain is None:
            return NONE
        memory, new = self._find(plain)
        if new:
            memory.state = "u"
        return f"{NONE}.{memory.number}"

    def collected(self, tensor) -> int | None:
        """The number of a storage that a collective writes, now or soon."""
        plain = self._plain(tensor)
        if plain is None:
            return None
        memory, _new = self._find(plain)
        memory.epoch += 1
        memory.seen.clear()
        memory.state = "r"
        return memory.number

    def _read_parts(self, tensor, wrote: bool = False) -> str:
        """Of a tensor that several others hold: a sparse one goes by the storage of its values."""
        parts = self._tensors.parts(tensor)
        digest = self._tensors.digest(tensor)
        if len(parts) < 2 or parts[-1].is_meta:
            return digest
        memory, new = self._find(parts[-1])
        if wrote:
            memory.epoch += 1
            memory.seen.clear()
        letter = "n" if new and not wrote else memory.state
        known = memory.seen.get(PARTS)
        if known is not None and known[3] != digest:
            letter = "x"
        self._keep(memory, PARTS, None, f"{digest}{memory.state}{memory.number}", digest)
        return f"{digest}{letter}{memory.number}"

    # Between steps.

    def sweep(self) -> None:
        """Forget storages that are gone."""
        expired = self._torch.UntypedStorage._expired
        gone = [key for key, memory in self._known.items() if expired(memory.weak)]
        for key in gone:
            self._torch.UntypedStorage._free_weak_ref(self._known.pop(key).weak)
        self._limit = 2 * len(self._known) + GROWTH

    def end(self) -> None:
        for memory in self._known.values():
            self._torch.UntypedStorage._free_weak_ref(memory.weak)
        self._known.clear()

    # How it is done.

    def _plain(self, tensor):
        """The tensor that has the memory; None where there are several, or none."""
        if tensor.layout is not self._strided:
            return None
        if type(tensor) not in self._simple:
            parts = self._tensors.parts(tensor)
            if len(parts) != 1:
                return None
            tensor = parts[0]
        return None if tensor.is_meta else tensor

    def _placed(self, tensor) -> tuple:
        """`_plain` and `_view`, at once for what nearly all tensors are."""
        if (
            type(tensor) in self._simple
            and tensor.layout is self._strided
            and tensor.is_cpu
            and tensor.is_contiguous()
        ):
            size = tensor.element_size()
            start = tensor.storage_offset() * size
            return tensor, (start, start + tensor.numel() * size)
        plain = self._plain(tensor)
        return plain, () if plain is None else _view(plain)

    def _find(self, tensor):
        """Return what is known of a tensor's storage, and whether that is nothing."""
        storage = tensor.untyped_storage()
        memory = self._known.get(storage._cdata)
        return (self._meet(storage), True) if memory is None else (memory, False)

    def _meet(self, storage) -> Memory:
        """A storage that was not seen before."""
        if len(self._known) > self._limit:
            self.sweep()
        memory = Memory(self._count, storage.nbytes(), storage._weak_ref())
        self._count += 1
        self._known[storage._cdata] = memory
        return memory

    def _keep(self, memory: Memory, view, plain, text: str, digest: str) -> None:
        if len(memory.seen) >= MOST_VIEWS:
            memory.seen.clear()
        version = _version(plain) if self._cached and plain is not None else 0
        memory.seen[view] = memory.epoch, version, text, digest, self._moment

    def _letter(self, memory: Memory, view) -> str:
        """Of a storage that was written in part."""
        if len(view) != 2:
            return memory.state
        start, end = view
        if any(first <= start and end <= last for first, last in memory.spans):
            return "."
        if any(first < end and start < last for first, last in memory.spans):
            return "v"
        return "u" if memory.spans else "v"

    def _cover(self, memory: Memory, view) -> bool:
        """Note that the view was written; whether that is the whole storage."""
        if len(view) == 2 and view[1] - view[0] >= memory.size:
            memory.state, memory.spans = ".", ()
            return True
        if memory.state in "uv":
            memory.state = "v"
            if len(view) == 2:
                memory.spans = _joined([*memory.spans, view])[:MOST_SPANS]
                if memory.spans[0] == (0, memory.size):
                    memory.state, memory.spans = ".", ()
        return False


def _version(tensor) -> int:
    try:
        return tensor._version
    except RuntimeError:  # of inference
        return 0


def _view(tensor):
    """Return what tells views of one storage from each other: (from, to) in bytes, if it has no
    gaps.
    """
    start = tensor.storage_offset() * tensor.element_size()
    span = dense(tensor)
    if span is not None:
        return start, start + span
    return start, tuple(tensor.shape), tensor.stride(), tensor.element_size()


def _joined(spans: list) -> list:
    """Spans in order, without those that touch."""
    found: list = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found
