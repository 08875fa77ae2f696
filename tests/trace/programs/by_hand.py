"""Records itself, at the level that is its second argument, into the folder that is its first.
Prints as JSON what it has become different by that.
"""

import io
import json
import sys
import threading

import torch
from torch.optim import optimizer as optimizers
from torch.utils.data import dataloader

from d9m.trace import record, step

folder, level = sys.argv[1:]


def surroundings():
    """What a recorder could have left behind."""
    iterator = dataloader._BaseDataLoaderIter
    return {
        "backward": id(torch.autograd.backward),
        "call": id(torch.nn.Module.__call__),
        "next": id(iterator.__next__),
        "index": id(iterator._next_index),
        "before": len(optimizers._global_optimizer_pre_hooks),
        "after": len(optimizers._global_optimizer_post_hooks),
        "modes": torch._C._len_torch_dispatch_stack(),
        "finders": len(sys.meta_path),
        "paths": len(sys.path),
        "threads": id(threading.Thread.start),
        "compiler": "torch._dynamo" in sys.modules,
    }


def saved(model):
    buffer = io.BytesIO()
    torch.save(model, buffer)
    return buffer.getvalue()


def train(model):
    torch.manual_seed(0)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _step in range(4):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).square().sum().backward()
        optimizer.step()
        step()
    optimizer.zero_grad()


model = torch.nn.Linear(3, 1)
train(model)
plain, before = saved(model), surroundings()
with record(folder, level=level, steps=(1, 2), step_by="explicit"):
    train(model)
recorded, after = saved(model), surroundings()
train(model)
print(
    json.dumps(
        {
            "changed": [name for name in before if before[name] != after[name]],
            "attributes": [len(vars(parameter)) for parameter in model.parameters()],
            "same_bytes": plain == recorded == saved(model),
            "modules": sorted(name for name in sys.modules if name.startswith("d9m")),
        }
    )
)
