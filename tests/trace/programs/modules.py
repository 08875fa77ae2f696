"""Many ops in one module, and in another one ops that add in no fixed order."""

import torch

ROWS, WIDTH, PICKED = 64, 256, 4096
torch.set_num_threads(8)
torch.manual_seed(0)


class PickedRows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = torch.nn.Parameter(torch.randn(ROWS, WIDTH))

    def forward(self, i):
        return self.rows[i]


class ManyOps(torch.nn.Module):
    def forward(self, x):
        for number in range(400):
            x = x + number * 1e-6
        return x


class FilledNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.filler = torch.nn.Sequential(ManyOps(), torch.nn.Linear(WIDTH, WIDTH))
        self.memory = torch.nn.Sequential(PickedRows())

    def forward(self, i, x):
        return self.memory(i) * self.filler(x)


if __name__ == "__main__":
    net = FilledNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    i, x = torch.randint(ROWS, (PICKED,)), torch.randn(PICKED, WIDTH)
    for _step in range(2):
        optimizer.zero_grad()
        net(i, x).square().mean().backward()
        optimizer.step()
