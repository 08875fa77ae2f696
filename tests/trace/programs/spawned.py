"""Starts two ranks itself, as notebooks do: no variable says which rank a process is."""

import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _step in range(2):
        optimizer.zero_grad()
        model(torch.full((3, 4), rank + 1.0)).square().sum().backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.start_processes(train, (sys.argv[1],), 2, start_method=sys.argv[2])
