"""Two steps of SGD, then what the argument says, then two more."""

import json
import os
import shutil
import signal
import sys

import torch

how = sys.argv[1] if len(sys.argv) > 1 else ""
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([weight], lr=0.1)


def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        weight.square().sum().backward()
        optimizer.step()


def fails():
    raise ValueError("two\nlines")


if how == "dies":
    torch.ones(3).exp()
    os.kill(os.getpid(), signal.SIGSEGV)
train(2)
if how == "raises":
    fails()
if how == "refuses":
    torch.nn.functional.max_unpool2d(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 2, 2).long(), 2)
if how == "deletes":
    shutil.rmtree(json.loads(os.environ["D9M_TRACE"])["folder"])
    sys.exit(9)
if how == "replaces":
    os.execv(sys.executable, [sys.executable, __file__])
if how == "leaves":
    os._exit(0)
if how == "forks":
    child = os.fork()
    train(1)
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
if how == "moves":
    os.chdir("/")
train(2)
print("weight", weight.tolist())
sys.exit(9 if how == "fails" else 0)
