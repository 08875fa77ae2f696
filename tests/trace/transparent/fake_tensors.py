"""A shape is worked out with fake tensors, within the loop and outside of it."""

import torch
from torch._subclasses import FakeTensorMode

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(3, 3))
optimizer = torch.optim.SGD([weight], lr=0.1)
mode = FakeTensorMode()
with mode:
    kept = torch.nn.Linear(3, 4)(torch.empty(8, 3))
print(type(kept).__name__, kept.shape, (kept + kept).shape)
for _step in range(2):
    with mode:
        shape = torch.empty(8, 3).matmul(torch.empty(3, 3)).relu_().sum(0).shape
    (weight * shape[0]).square().sum().backward()
    optimizer.step()
    print([value.hex() for value in weight.flatten().tolist()])
