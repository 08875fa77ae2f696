"""Three steps. In step 1, NumPy's generator is drawn from; in step 2, a thread computes."""

import random
import threading

import numpy
import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([weight], lr=0.1)
total = torch.zeros(4)
assert random
for step in range(3):
    optimizer.zero_grad()
    scale = numpy.random.rand() if step == 1 else 1.0
    if step == 2:
        helper = threading.Thread(target=lambda: total.add_(1))
        helper.start()
        helper.join()
    (weight * scale + total).sum().backward()
    optimizer.step()
