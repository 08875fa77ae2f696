"""Trains with Accelerate, on as many processes as it is launched with."""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed

set_seed(0)
accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(4, 2)
data = torch.utils.data.TensorDataset(torch.arange(64.0).reshape(16, 4))
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for (batch,) in loader:
    optimizer.zero_grad()
    accelerator.backward(model(batch).square().mean())
    optimizer.step()
accelerator.end_training()
