"""A subclass that holds two tensors, says which, and counts the ops that it gets."""

from collections import Counter

import torch
from torch.utils._pytree import tree_map

calls = Counter()


class Pair(torch.Tensor):
    @staticmethod
    def __new__(cls, one, other):
        return torch.Tensor._make_wrapper_subclass(cls, one.size(), dtype=one.dtype)

    def __init__(self, one, other):
        self.one, self.other, self.label = one, other, "a label"

    def __tensor_flatten__(self):
        return ["one", "other"], self.label

    @staticmethod
    def __tensor_unflatten__(inner, label, size, stride):
        return Pair(inner["one"], inner["other"])

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        calls[str(function)] += 1

        def of(name):
            bare = tree_map(
                lambda x: getattr(x, name) if isinstance(x, Pair) else x, (args, kwargs or {})
            )
            return function(*bare[0], **bare[1])

        one, other = of("one"), of("other")
        return Pair(one, other) if isinstance(one, torch.Tensor) else one


torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(4))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _step in range(2):
    pair = Pair(torch.ones(4), torch.arange(4.0))
    found = (pair * 2 + pair).exp()
    (weight * found.other).sum().backward()
    optimizer.step()
print(sorted(calls.items()))
print(found.one.tolist(), found.other.tolist(), weight.tolist())
