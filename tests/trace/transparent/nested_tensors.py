"""Nested tensors of both layouts."""

import warnings

import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(2, 3))
optimizer = torch.optim.SGD([weight], lr=0.1)
rows = [torch.randn(2, 3), torch.randn(4, 3)]
for layout in (torch.strided, torch.jagged):
    nested = torch.nested.nested_tensor(rows, layout=layout)
    found = torch.nn.functional.linear(nested, weight).relu()
    sum(part.sum() for part in found.unbind()).backward()
    optimizer.step()
    print(layout, nested.is_nested, [part.tolist() for part in found.unbind()])
print(weight.tolist())
