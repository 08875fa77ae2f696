"""Functions with a backward pass of the program's."""

import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values):
        ctx.save_for_backward(values)
        ctx.mark_non_differentiable(values.sign())
        return values**3

    @staticmethod
    def backward(ctx, gradient):
        (values,) = ctx.saved_tensors
        return gradient * 3 * values**2


torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(5))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _step in range(3):
    Cube.apply(weight).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
weight = weight.double().detach().requires_grad_()
print(weight.tolist(), torch.autograd.gradcheck(Cube.apply, (weight,)))
