"""A function that inductor compiles: it changes one argument, and has a gradient."""

import torch

torch.manual_seed(0)


@torch.compile
def fused(x, buffer):
    buffer.add_(x.sum().detach())
    return (x.sin() * 2).sum()


x = torch.ones(64, requires_grad=True)
buffer = torch.zeros(3)
fused(x, buffer).backward()
doubled = buffer * 2
print(x.grad[0].item().hex(), doubled.tolist())
