"""DTensors made by hand, over gloo, in two ranks. Rank 0 prints."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

try:
    from torch.distributed.tensor import Shard, distribute_tensor
except ImportError:  # before torch 2.5
    from torch.distributed._tensor import Shard, distribute_tensor
from torch.distributed.device_mesh import init_device_mesh


def train(rank, path):
    os.environ["RANK"] = str(rank)
    dist.init_process_group("gloo", store=dist.FileStore(path, 2), rank=rank, world_size=2)
    torch.manual_seed(0)
    mesh = init_device_mesh("cpu", (2,))
    weight = torch.nn.Parameter(distribute_tensor(torch.randn(4, 3), mesh, [Shard(0)]))
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    for _step in range(2):
        rows = distribute_tensor(torch.randn(4, 3), mesh, [Shard(0)])
        (weight * rows).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    whole = weight.full_tensor()
    if rank == 0:
        print([value.hex() for value in whole.flatten().tolist()], flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, (os.path.abspath("ranks"),), nprocs=2)
    if os.path.exists("ranks"):
        os.remove("ranks")
