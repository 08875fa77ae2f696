"""Backward passes raise: a function of the program's, a hook, an optimizer's step."""

import torch


class Refusing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values):
        return values.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("refused")


def refuse(*arguments):
    raise KeyError("a hook")


torch.manual_seed(0)
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    found = model(torch.ones(2, 3))
    if step == 1:
        found = Refusing.apply(found)
    if step == 2:
        found.register_hook(refuse)
    handle = optimizer.register_step_pre_hook(refuse) if step == 3 else None
    try:
        found.sum().backward()
        optimizer.step()
    except Exception as error:
        print(step, type(error).__name__, error)
    if handle:
        handle.remove()
optimizer.step()
print(model.weight.tolist(), torch.is_grad_enabled())
