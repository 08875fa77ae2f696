"""Two ranks over gloo: DistributedDataParallel, then a collective by hand."""

import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _step in range(2):
    optimizer.zero_grad()
    model(torch.full((3, 4), float(rank))).square().sum().backward()
    optimizer.step()
total = torch.tensor([float(rank)])
dist.all_reduce(total)
doubled = total * 2
parts = [torch.empty(1) for _rank in range(2)]
dist.all_gather(parts, doubled)
sys.stdout.write(f"rank {rank} {sum(parts).item()}\n")  # whole: both ranks write here
dist.destroy_process_group()
