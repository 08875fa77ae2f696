"""Activations, gradients and states of an optimizer of some hundred megabytes."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    *(torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU()) for _ in range(8))
)
optimizer = torch.optim.Adam(model.parameters())
for _step in range(2):
    model(torch.ones(1024, 1024)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
with torch.no_grad():
    print(model(torch.ones(4, 1024)).sum().item().hex())
