"""The program leaves by os._exit."""

import os

import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(3))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _step in range(2):
    weight.square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print(weight.tolist(), flush=True)
os._exit(7)
