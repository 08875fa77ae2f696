"""Threads of the program train, each its own model."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch


def train(seed):
    generator = torch.Generator().manual_seed(seed)
    weight = torch.nn.Parameter(torch.randn(4, generator=generator))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _step in range(3):
        weight.square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return weight.tolist()


with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(train, range(4))))
thread = threading.Thread(target=lambda: print(train(9)), daemon=True)
thread.start()
thread.join()
print(train(0), threading.active_count())
