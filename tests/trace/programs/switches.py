"""Five steps; in step 3 a run that is given the word `switch` changes settings on its way."""

import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scale = 1.0
for step in range(5):
    if step == 3 and "switch" in sys.argv:
        torch.backends.cudnn.deterministic = True
        torch.set_float32_matmul_precision("medium")
        torch.set_num_threads(1)
        scale = 1.001  # stands for what other kernels compute
    optimizer.zero_grad()
    (model(torch.ones(4, 8)) * scale).sum().backward()
    optimizer.step()
