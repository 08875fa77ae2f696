"""A penalty on the gradient: the backward pass is differentiated, too."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
optimizer = torch.optim.Adam(model.parameters())
for _step in range(3):
    rows = torch.randn(4, 3, requires_grad=True)
    (gradient,) = torch.autograd.grad(model(rows).sum(), rows, create_graph=True)
    (gradient.square().sum() + model(rows).sum()).backward()
    optimizer.step()
    optimizer.zero_grad()
print([parameter.sum().item().hex() for parameter in model.parameters()])
print(torch.autograd.functional.hessian(lambda x: x.pow(3).sum(), torch.ones(2)).tolist())
