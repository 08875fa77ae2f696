"""The program leaves by sys.exit with a message, and what runs at the exit prints."""

import atexit
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
atexit.register(print, "at the exit")
sys.exit("a message")
