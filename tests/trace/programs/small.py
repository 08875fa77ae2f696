"""Three steps of SGD. `kill` as an argument: the program ends itself by SIGKILL in step 2, `term`:
by SIGTERM. `lose`: the folder that it records into is gone after step 0.
"""

import json
import os
import shutil
import signal
import sys

import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(8))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(3):
    loss = (weight * torch.arange(8.0)).sum() ** 2
    loss.backward()
    if "kill" in sys.argv and step == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if "term" in sys.argv and step == 2:
        os.kill(os.getpid(), signal.SIGTERM)
    optimizer.step()
    optimizer.zero_grad()
    if "lose" in sys.argv and step == 0:
        shutil.rmtree(json.loads(os.environ["D9M_TRACE"])["folder"])
print("weight", [value.hex() for value in weight.tolist()])
