"""Copies of a model and an optimizer, both trained on."""

import copy

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
optimizer = torch.optim.Adam(model.parameters())
average = torch.optim.swa_utils.AveragedModel(model)
for _step in range(2):
    model(torch.randn(4, 3)).sum().backward()
    optimizer.step()
    average.update_parameters(model)
again, state = copy.deepcopy((model, optimizer)), copy.deepcopy(optimizer.state_dict())
again[0](torch.randn(4, 3)).square().sum().backward()
again[1].step()
print(again[0][0].weight.tolist(), model[0].weight.tolist(), average.module[0].weight.tolist())
print(
    state["state"][0]["exp_avg"].tolist(),
    again[1].param_groups[0]["params"][0] is again[0][0].weight,
)
