"""stdout is another object, then closed."""

import io
import os
import sys

import torch

original, sys.stdout = sys.stdout, io.StringIO()
weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _step in range(2):
    weight.sum().backward()
    optimizer.step()
    print("step", weight.tolist())
text, sys.stdout = sys.stdout.getvalue(), original
os.write(1, text.upper().encode())
sys.stdout = None
weight.sum().backward()
optimizer.step()
os.write(1, repr(weight.tolist()).encode())
sys.stderr = None
