"""Batches from worker processes, which are forked, then spawned; an optimizer steps for each."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    torch.manual_seed(0)
    data = TensorDataset(torch.arange(8.0))
    weight = torch.nn.Parameter(torch.ones(4))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for method in ("fork", "spawn"):
        loader = DataLoader(data, batch_size=4, num_workers=1, multiprocessing_context=method)
        for (x,) in loader:
            optimizer.zero_grad()
            (weight * x).sum().backward()
            optimizer.step()


if __name__ == "__main__":
    main()
