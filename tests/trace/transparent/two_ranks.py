"""FSDP2 over gloo: two ranks, whose parameters are DTensors. Rank 0 prints.

On a CPU it needs torch 2.7; `sharded_tensors.py` runs with older releases.
"""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def train(rank, path):
    os.environ["RANK"] = str(rank)
    dist.init_process_group("gloo", store=dist.FileStore(path, 2), rank=rank, world_size=2)
    torch.manual_seed(0)
    mesh = init_device_mesh("cpu", (2,))
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters())
    for _step in range(2):
        model(torch.full((2, 8), rank + 1.0)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    whole = {name: value.full_tensor() for name, value in model.state_dict().items()}
    if rank == 0:
        print({name: value.sum().item().hex() for name, value in whole.items()}, flush=True)
        torch.save(whole, "model.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, (os.path.abspath("ranks"),), nprocs=2)
    if os.path.exists("ranks"):
        os.remove("ranks")
