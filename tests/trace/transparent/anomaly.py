"""Anomaly detection finds the same op, and says the same of it."""

import warnings

import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.zeros(3))
optimizer = torch.optim.SGD([weight], lr=0.1)
with torch.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for step in range(2):
        try:
            (weight - step).sqrt().sum().backward()
            optimizer.step()
        except RuntimeError as error:
            print(step, error)
print(len(caught), weight.tolist())
