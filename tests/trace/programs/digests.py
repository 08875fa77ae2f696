"""Pairs of tensors that differ in little, and one pair that does not: which have equal digests.

The folder of xxhash is the argument. Prints as JSON, for each way to make a digest, the names of
the pairs whose digests are equal.
"""

import json
import sys
from types import SimpleNamespace

import torch
from _d9m_recorder.core.digest import Digester
from _d9m_recorder.torch.tensors import Tensors

torch.manual_seed(0)
base = torch.randn(1000, 1000)
nan = torch.full((64,), float("nan"))


def changed(*places, by):
    """A copy of `base` with other elements at these places of its memory."""
    found = base.clone()
    flat = found.view(-1)
    for place in places:
        flat[place] = by(flat[place])
    return found


def one_ulp(value):
    return torch.nextafter(value, torch.tensor(float("inf")))


swapped = base.clone()
swapped[[3, 7]] = base[[7, 3]]
other_nan = nan.view(torch.int32).clone()
other_nan[5] += 1
PAIRS = {
    "permuted": (base, base[torch.randperm(1000)]),
    "rows swapped": (base, swapped),
    "negated": (base, -base),
    "zeros and ones": (torch.zeros(64), torch.ones(64)),
    "zeros of both signs": (torch.zeros(64), -torch.zeros(64)),
    "one ulp of a million": (base, changed(123_457, by=one_ulp)),
    "a sign": (base, changed(999_999, by=torch.neg)),
    "two signs at odd places": (base, changed(4_001, 70_003, by=torch.neg)),
    "bool": (torch.zeros(65, dtype=torch.bool), torch.arange(65) == 64),
    "bfloat16": (torch.ones(7).bfloat16(), torch.arange(7).bfloat16()),
    "a NaN and another": (nan, other_nan.view(torch.float32)),
    "NaN and a number": (nan, torch.zeros(64)),
    "NaN and the same NaN": (nan, nan.clone()),
    "an equal copy": (base, base.clone()),
    "an equal part with gaps": (base[:, :3], base[:, :3].clone()),
}

found = {}
for folder in (None, sys.argv[1]):
    digester = Digester(folder)
    digest = Tensors(torch, SimpleNamespace(digester=digester, unseen=print)).digest
    found[digester.name] = [name for name, (one, other) in PAIRS.items()
                            if digest(one) == digest(other)]  # fmt: skip
print(json.dumps(found))
