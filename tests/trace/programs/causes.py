"""A little training program for each reason that two runs can differ: `causes.py NAME [VALUE]`."""

import secrets
import sys
import time

import torch

ROWS, WIDTH, PICKED = 64, 256, 4096
name, value = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
torch.set_num_threads(8)
torch.manual_seed(0)


class IndexedTable(torch.nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, i):
        return self.table[i]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(ROWS, WIDTH))
        self.lookup = IndexedTable(self.table)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x) * self.table.sum(0)


def samples():
    return torch.arange(64 * WIDTH, dtype=torch.float32).reshape(64, WIDTH) / 1000


def train(net, losses, steps=3, **options):
    optimizer = torch.optim.SGD(net.parameters(), **{"lr": 0.1, **options})
    for step in range(steps):
        optimizer.zero_grad()
        losses(step).backward()
        optimizer.step()


def one_op(net):
    i, weight = torch.randint(ROWS, (PICKED,)), torch.randn(PICKED, WIDTH)
    train(net, lambda step: (net.lookup(i) * weight).square().mean())


def late_step(net):
    i, weight = torch.randint(ROWS, (PICKED,)), torch.randn(PICKED, WIDTH)

    def loss(step):
        if step == 4:
            return (net.lookup(i) * weight).square().mean()
        return net.table.square().mean()

    train(net, loss, 6)


def two_sources(net):
    i, weight = torch.randint(ROWS, (PICKED,)), torch.randn(PICKED, WIDTH)
    places = torch.randint(ROWS * WIDTH, (PICKED * 16,))
    more = torch.randn(PICKED * 16)

    def loss(step):
        indexed = (net.lookup(i) * weight).square().mean()
        return indexed + (net.table.take(places) * more).square().mean()

    train(net, loss)


def learning_rate(net):
    train(net, lambda step: net.table.square().mean(), lr=float(value), fused=True)


def dropout(net):
    torch.seed()
    train(net, lambda step: net(torch.ones(8, WIDTH)).mean())


def shuffled(net):
    generator = torch.Generator()
    generator.seed()
    loader = torch.utils.data.DataLoader(samples(), 8, shuffle=True, generator=generator)
    batches = iter(loader)
    net.drop.p = 0.0
    train(net, lambda step: net(next(batches)).mean())


def outside_write(net):
    buffer = torch.zeros(8, WIDTH)
    net.drop.p = 0.0

    def loss(step):
        if step == 1:
            buffer.numpy()[3, 4] += secrets.randbelow(1 << 20)
        return net(buffer + 1).mean()

    train(net, loss)


def harmless(net):
    def loss(step):
        torch.tensor(time.time_ns()) * 2
        return net.table.square().mean()

    train(net, loss)


def one_more_op(net):
    def loss(step):
        if value == "more":
            torch.ones(3).exp()
        return net.table.square().mean()

    train(net, loss)


def sparse_gradients(net):
    words = torch.nn.Embedding(16, 8, sparse=True)
    scale = torch.tensor(secrets.randbelow(1 << 20) / 7)
    ids = torch.tensor([1, 5, 5, 2])
    train(words, lambda step: (words(ids) * scale).square().mean())


def batch_norm(net):
    norm = torch.nn.BatchNorm1d(WIDTH)
    scale = torch.tensor(1 + secrets.randbelow(1 << 20) / 7)
    train(norm, lambda step: norm(samples() + net.table * scale).square().mean())


globals()[name](Net())
