"""DistributedDataParallel over gloo, in one process."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

store = dist.HashStore()
dist.init_process_group("gloo", store=store, rank=0, world_size=1)
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _step in range(3):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
total = torch.ones(3)
dist.all_reduce(total)
dist.barrier()
print([value.hex() for value in model.module[0].weight.flatten().tolist()], total.tolist())
dist.destroy_process_group()
