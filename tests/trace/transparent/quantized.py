"""Quantized tensors, and a model that is quantized dynamically."""

import warnings

import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(2, 4)).sum().backward()
optimizer.step()
values = torch.quantize_per_tensor(torch.randn(4, 4), 0.1, 3, torch.quint8)
channels = torch.quantize_per_channel(
    torch.randn(2, 4), torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0, torch.qint8
)
print(values.int_repr().tolist(), channels.dequantize().tolist())
if torch.backends.quantized.engine != "none":
    small = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, torch.qint8)
    print(small(torch.ones(2, 4)).tolist())
