"""Ops of every kind that a recording tells apart, each in a function of its own."""

import numpy
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Lookup(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(16, 4))

    def forward(self, i):
        return self.table[i]


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lookup = Lookup()
        self.out = nn.Linear(4, 2)

    def forward(self, i):
        return self.out(self.lookup(i)).sum()


class SelfWrapped(torch.Tensor):
    """A tensor that takes itself apart."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        inner = [arg.inner if isinstance(arg, SelfWrapped) else arg for arg in args]
        return SelfWrapped(function(*inner, **(kwargs or {})))


def from_outside():
    return torch.from_numpy(numpy.arange(4.0)) + 1


def written_by_numpy():
    buffer = torch.zeros(8)
    first = buffer * 2
    buffer.numpy()[3] = 7
    return first + (buffer * 3), buffer * 4


def unwritten():
    buffer = torch.empty(4, 8)
    buffer[:2] = 1
    whole = torch.empty(8)
    return buffer[0] * 2, buffer[3] * 2, buffer[1:3] * 2, whole * 2


def row_by_row():
    buffer = torch.empty(3, 8)
    for row in range(3):
        buffer[row].copy_(torch.ones(8))
    return buffer * 2


def with_out():
    target = torch.empty(4)
    torch.add(torch.ones(4), 1.5, out=target, alpha=2)
    return target


def dropped():
    generator = torch.Generator().manual_seed(5)
    torch.rand(4, generator=generator)
    return nn.functional.dropout(torch.ones(64))


def values():
    ones = torch.ones(3)
    return ones.sum().item(), bool(ones[0] > 2), torch.equal(ones, ones)


def views():
    table = torch.ones(4, 6)
    return table.t()[1:].unsqueeze(0).expand(3, 5, 4).detach()


def transposed():
    return torch.ones(4, 6).t() + 1, torch.ones(6, 6)[:, 1:3] + 1


def recomputed():
    x = torch.ones(4, requires_grad=True)
    checkpoint(lambda value: value.sin().exp(), x, use_reentrant=False).sum().backward()
    return x.grad


def twice_differentiated():
    x = torch.ones(4, requires_grad=True)
    (first,) = torch.autograd.grad(x.pow(3).sum(), x, create_graph=True)
    first.sum().backward()


def wrapped():
    return SelfWrapped(torch.ones(4)).cos()


def sparse():
    return torch.eye(3).to_sparse() * 2


def trained():
    torch.manual_seed(0)
    model = Tagger()
    for switches in ({"fused": True}, {"foreach": True}, {"foreach": False}):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, **switches)
        model(torch.tensor([1, 3, 3])).backward()
        optimizer.step()
        optimizer.zero_grad()


for case in (
    from_outside, written_by_numpy, unwritten, row_by_row, with_out, dropped, values, views,
    transposed, recomputed, twice_differentiated, wrapped, sparse, trained,
):  # fmt: skip
    case()
