"""A dispatch mode of the program counts ops: around the loop, and within a step."""

from collections import Counter

import torch
from torch.utils._python_dispatch import TorchDispatchMode

calls = Counter()


class Counting(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        calls[str(function)] += 1
        return function(*args, **(kwargs or {}))


torch.manual_seed(0)
table = torch.nn.Embedding(6, 4, sparse=True)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD([*model.parameters(), *table.parameters()], lr=0.1)
for step in range(3):
    with Counting():
        model(table(torch.tensor([step, 5]))).transpose(0, 1).sum().backward()
        optimizer.step()
    optimizer.zero_grad()
with Counting(), Counting():
    for _step in range(2):
        model(torch.ones(3, 4)).sum().backward()
        optimizer.step()
print(sorted(calls.items()))
print(model.weight.tolist())
