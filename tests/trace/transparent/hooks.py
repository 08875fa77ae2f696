"""Hooks of modules, tensors, optimizers and saved tensors, in the order in which they come."""

import torch

order = []


def noting(name):
    def hook(*arguments):
        order.append(f"{name} {len(arguments)}")

    return hook


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
model.register_forward_pre_hook(noting("forward pre"))
model.register_forward_hook(noting("forward"))
model[0].register_full_backward_pre_hook(noting("backward pre"))
model[0].register_full_backward_hook(noting("backward"))
torch.nn.modules.module.register_module_forward_hook(noting("any forward"))
optimizer = torch.optim.Adam(model.parameters())
optimizer.register_step_pre_hook(noting("step pre"))
optimizer.register_step_post_hook(noting("step post"))
model[0].weight.register_post_accumulate_grad_hook(noting("accumulated"))
for _step in range(2):
    with torch.autograd.graph.saved_tensors_hooks(lambda x: order.append("pack") or x, lambda x: x):
        found = model(torch.ones(2, 3, requires_grad=True))
    found.register_hook(noting("gradient"))
    found.sum().backward()
    optimizer.step(lambda: order.append("closure"))
    optimizer.zero_grad()
print(order)
print(len(found._backward_hooks), model[0].weight.tolist())
