"""Views are written in place: versions, aliases, and the error where a saved one was changed."""

import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(4, 4))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _step in range(2):
    copied = weight * 2
    copied[0].mul_(3)
    copied.t()[1].add_(1)
    copied.view(-1)[::3].zero_()
    print(copied._version, copied[0]._base is copied, copied.grad_fn.name())
    copied.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
saved = weight.exp()
saved.add_(1)
try:
    saved.sum().backward()
except RuntimeError as error:
    print(str(error).partition(";")[0])
print(weight.tolist(), weight.data_ptr() == weight.detach().data_ptr())
weight.data = torch.zeros(2)
print(weight.shape, weight.untyped_storage().nbytes())
