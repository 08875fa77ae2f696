# pyright: basic
"""Sizes and samples of tensors under `--samples`: a record before the one that names the digest.

Everything is computed on a copy on the CPU, with ops that draw no random numbers.
"""

from __future__ import annotations

import math
import sys

from ..core.stream import compact as text_of
from .memory import Memories
from .tensors import compact

COUNT = 64
"""Elements of a tensor that are stored."""
LARGEST = sys.float_info.max
STRIDE = 2654435761
"""Knuth's multiplier: within its part of the tensor, each element lies somewhere else."""


def positions(count: int) -> list:
    """Return the places of the samples in row-major order: the same in each tensor of a size."""
    if count <= COUNT:
        return list(range(count))
    width = count // COUNT
    return [place * count // COUNT + place * STRIDE % width for place in range(COUNT)]


class SampledMemories(Memories):
    """Writes samples of each tensor that is digested, once a step for each content."""

    def __init__(self, torch, session, tensors) -> None:
        super().__init__(torch, session, tensors)
        self._session = session
        self._written: dict = {}
        self._places: dict = {}

    def read(self, tensor, made: bool = False) -> str:
        text = super().read(tensor, made)
        self._session.guarded("samples", self._note, tensor, text)
        return text

    def wrote(self, tensor) -> str:
        text = super().wrote(tensor)
        self._session.guarded("samples", self._note, tensor, text)
        return text

    def sweep(self) -> None:
        super().sweep()
        self._written.clear()

    def _note(self, tensor, text: str) -> None:
        parts = self._tensors.parts(tensor)
        if not parts or parts[-1].is_meta or parts[-1].is_quantized:
            return
        part = parts[-1]  # of a sparse tensor, its values
        digest = text[: self._session.digester.width]
        key = part.dtype, part.numel()
        if self._written.get(digest) != key:
            self._written[digest] = key
            about = str(part.dtype).replace("torch.", "") + str(list(part.shape))
            with self._torch.no_grad():
                self._session.add(f'["z","{digest}","{about}",{self._sampled(part)}]\n')

    def _sampled(self, tensor) -> str:
        """Size, norm, largest magnitude and mean of finite elements, NaN, inf, -inf, samples."""
        torch = self._torch
        values = compact(tensor.detach()).cpu().resolve_conj().resolve_neg()
        values = torch.view_as_real(values) if values.is_complex() else values
        values = values.to(torch.float64).reshape(-1)
        count = values.numel()
        if count not in self._places:
            places = torch.tensor(positions(count), dtype=torch.int64, device="cpu")
            self._places[count] = places
        samples = values[self._places[count]].tolist()
        odd = [values.isnan(), values == math.inf, values == -math.inf]
        odd = [int(found.sum()) for found in odd]
        if any(odd):
            values = values[values.isfinite()]
        sizes = [0.0, 0.0, 0.0]
        if values.numel():
            found = values.square().sum().sqrt(), values.abs().max(), values.mean()
            sizes = [max(-LARGEST, min(float(size), LARGEST)) for size in found]
        finite = [sample if math.isfinite(sample) else None for sample in samples]
        return ",".join(text_of(part) for part in (count, *sizes, odd, finite))
