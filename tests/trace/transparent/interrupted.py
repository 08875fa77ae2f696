"""The program handles one signal and dies of another."""

import os
import signal

import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(3))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _step in range(2):
    weight.square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print(weight.tolist(), flush=True)
signal.signal(signal.SIGUSR1, lambda number, frame: print("handled", number, flush=True))
os.kill(os.getpid(), signal.SIGUSR1)
weight.sum().backward()
os.kill(os.getpid(), signal.SIGTERM)
