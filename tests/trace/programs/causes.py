"""A little training program for each reason that two runs can differ: `causes.py NAME [VALUE]`."""

import secrets
import sys
import time

import torch
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils.checkpoint import checkpoint

ROWS, WIDTH, PICKED = 64, 256, 4096
name, value = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
torch.set_num_threads(int(value) if name == "other_threads" else 8)
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
    rate, kind = value.split()
    switches = {"loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}
    train(net, lambda step: net.table.square().mean(), lr=float(rate), **switches[kind])


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


def unwritten_memory(net):
    net.drop.p = 0.0

    def loss(step):
        dirty = [torch.full((8, WIDTH), secrets.randbelow(1 << 20) / 7) for _ in range(16)]
        del dirty
        made = torch.empty(8, WIDTH)
        made[:4] = 1
        return net(made).mean()

    train(net, loss)


def subclass(net):
    i, added = torch.randint(ROWS, (PICKED,)), torch.randn(PICKED, WIDTH)
    both = TwoTensor(added, added * 2)

    def loss(step):
        empty = TwoTensor(torch.zeros(ROWS, WIDTH), torch.zeros(ROWS, WIDTH))
        filled = empty.index_put((i,), both, accumulate=True)
        return (net.table * filled.a).square().mean() + filled.b.square().mean()

    train(net, loss)


def compiled(net):
    i, weight = torch.randint(ROWS, (PICKED,)), torch.randn(PICKED, WIDTH)
    picked = torch.compile(net.lookup)
    train(net, lambda step: (picked(i) * weight).square().mean(), steps=1)


def recomputed(net):
    def loss(step):
        x = torch.ones(8, WIDTH, requires_grad=True)
        again = checkpoint(net, x, use_reentrant=value == "reentrant")
        return again.square().mean()

    train(net, loss)


def other_threads(net):
    layers = torch.nn.Sequential(
        torch.nn.Conv1d(8, 16, 3), torch.nn.LayerNorm(WIDTH - 2), torch.nn.Conv1d(16, 8, 3)
    )
    x = torch.randn(32, 8, WIDTH)
    train(layers, lambda step: layers(x).square().mean())


def resumed(net):
    """The whole run saves its parameters after step 1; the other begins with them, and has drawn
    nothing.
    """
    path, which = value.split()
    if which == "rest":
        net.load_state_dict(torch.load(path))

    def loss(step):
        if which == "whole" and step == 2:
            torch.save(net.state_dict(), path)
        return net(torch.ones(8, WIDTH)).mean()

    train(net, loss, 4 if which == "whole" else 2)


globals()[name](Net())
