"""Transforms of torch.func: vmap, grad, functional_call, jvp."""

import torch
from torch.func import functional_call, grad, jvp, vmap

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
values = dict(model.named_parameters())


def loss(values, row):
    return functional_call(model, values, (row,)).square().sum()


rows = torch.randn(5, 3)
each = vmap(grad(loss), in_dims=(None, 0))(values, rows)
print({name: part.sum().item() for name, part in each.items()})
print(jvp(torch.sin, (rows,), (torch.ones(5, 3),))[1].sum().item())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for name, parameter in model.named_parameters():
    parameter.grad = each[name].mean(0).detach()
optimizer.step()
print(vmap(model)(rows).flatten().tolist())
