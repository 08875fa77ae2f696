"""Tensors, models and graphs are gone as soon as nothing of the program holds them."""

import gc
import sys
import weakref

import torch

gc.disable()
torch.manual_seed(0)
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
gone = []
for step in range(2):
    rows = torch.randn(2, 3)
    found = model(rows)
    loss = found.sum()
    for name, held in (("rows", rows), ("found", found), ("loss", loss)):
        weakref.finalize(held, gone.append, f"{name} {step}")
    loss.backward()
    weakref.finalize(model.weight.grad, gone.append, f"gradient {step}")
    print(sys.getrefcount(found), sys.getrefcount(model), sys.getrefcount(optimizer))
    optimizer.step()
    optimizer.zero_grad()
    del rows, found, loss, held
    print(gone)
for name, held in (("model", model), ("optimizer", optimizer)):
    weakref.finalize(held, gone.append, name)
del model, optimizer, held
gc.collect()
print(gone, gc.garbage)
