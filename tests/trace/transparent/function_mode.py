"""A function mode of the program counts every call of a function of torch's."""

from collections import Counter

import torch
from torch.overrides import TorchFunctionMode

calls = Counter()


class Counting(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        calls[getattr(function, "__name__", str(function))] += 1
        return function(*args, **(kwargs or {}))


torch.manual_seed(0)
with Counting():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.randn(6, 4), batch_size=2, shuffle=True)
    for batch in loader:
        loss = model(batch).square().sum()
        torch.autograd.backward([loss])
        optimizer.step()
        optimizer.zero_grad()
print(sorted(calls.items()))
print(model[0].weight.tolist())
