"""Activations are made again in the backward pass, with the state of the generator."""

import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
inner = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Tanh())
optimizer = torch.optim.SGD(inner.parameters(), lr=0.1)
for reentrant in (True, False, False):
    rows = torch.randn(3, 4, requires_grad=True)
    checkpoint(inner, rows, use_reentrant=reentrant).square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    print(rows.grad.tolist())
print(inner[0].weight.tolist(), torch.rand(1).item())
