"""Two ranks over gloo: ddp, fsdp1 or fsdp2. SEED seeds what rank 1 alone adds in step 2."""

import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
net = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(2)])
if sys.argv[1] == "ddp":
    net = DistributedDataParallel(net)
elif sys.argv[1] == "fsdp1":
    net = FullyShardedDataParallel(net, device_id=torch.device("cpu"))
else:
    for layer in (*net, net):
        fully_shard(layer, mesh=init_device_mesh("cpu", (2,)))
optimizer = torch.optim.AdamW(net.parameters())
for step in range(4):
    batch = torch.randn(4, 16)
    if dist.get_rank() == 1 and step == 2:
        noise = torch.Generator().manual_seed(int(os.environ["SEED"]))
        batch += torch.rand(4, 16, generator=noise)
    optimizer.zero_grad()
    net(batch).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
