"""Batches from workers that are started by fork."""

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((3,), float(index)), torch.rand(()).item()


def main():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Rows(), 2, shuffle=True, num_workers=2, multiprocessing_context="fork")
    for rows, drawn in loader:
        model(rows).sum().backward()
        optimizer.step()
        print(rows.tolist(), drawn.tolist())
    print(model.weight.tolist())


if __name__ == "__main__":
    main()
