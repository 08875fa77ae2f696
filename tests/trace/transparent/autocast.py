"""Automatic mixed precision on a CPU."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _step in range(3):
    with torch.autocast("cpu", torch.bfloat16):
        found = model(torch.ones(4, 8))
        print(found.dtype, torch.is_autocast_cache_enabled())
        loss = found.float().square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print([value.hex() for value in model[0].weight.flatten().tolist()])
