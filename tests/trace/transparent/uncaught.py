"""The program ends by an exception within a step; its own hook prints it."""

import sys

import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(3))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _step in range(2):
    weight.square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print(weight.tolist(), flush=True)
sys.excepthook = lambda kind, error, trace: print(kind.__name__, error)
loss = weight.sum()
loss.backward()
loss.backward(torch.ones(2))
