"""The program has faulthandler on, and dies of a segmentation fault."""

import ctypes
import faulthandler
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
print(faulthandler.is_enabled())
with open(os.devnull, "w") as file:
    faulthandler.enable(file)
    ctypes.string_at(0)
