"""A model is exported, then trained."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
program = torch.export.export(model, (torch.ones(1, 2),))
print(program.graph_module.code)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
print(program.module()(torch.ones(1, 2)).tolist(), model[0].weight.tolist())
