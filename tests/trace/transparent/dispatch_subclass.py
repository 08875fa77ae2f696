"""A subclass that wraps a tensor and counts the ops that it gets; it says nothing of its parts."""

from collections import Counter

import torch
from torch.utils._pytree import tree_map

calls = Counter()


class Counting(torch.Tensor):
    @staticmethod
    def __new__(cls, held):
        made = torch.Tensor._make_wrapper_subclass(
            cls, held.size(), dtype=held.dtype, requires_grad=held.requires_grad
        )
        made.held = held
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        calls[str(function)] += 1
        bare = tree_map(lambda x: x.held if isinstance(x, Counting) else x, (args, kwargs or {}))
        found = function(*bare[0], **bare[1])
        return tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, found)


torch.manual_seed(0)
weight = torch.nn.Parameter(Counting(torch.randn(4)))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _step in range(3):
    (weight * weight + 1).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
try:
    weight @ object()
except TypeError as error:
    print(error)
print(sorted(calls.items()))
print(weight.held.tolist())
