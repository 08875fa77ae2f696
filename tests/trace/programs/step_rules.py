"""Four calls of a model. What trains it, if anything does, is the argument."""

import sys

import torch

how = sys.argv[1]
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
scale = torch.nn.Softmax(0)  # without parameters, as what transforms data


def loss():
    return model(scale(torch.ones(3))).sum()


def infers():
    for _ in range(4):
        loss()


def by_hand():
    for _ in range(4):
        loss().backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad
        model.zero_grad()


def accumulates():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss().backward()
        loss().backward()
        optimizer.step()


def late():
    """Calls the model before there is an optimizer."""
    loss()
    loss()
    loss()
    accumulates()


globals()[how]()
print("weight", model.weight.sum().item().hex())
