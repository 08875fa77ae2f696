"""Two epochs over a shuffled loader. Ends with the exit code that is its first argument."""

import sys

import torch
from torch import nn

torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(32, 8), torch.randn(32, 1))
loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, fused=True)
for _epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
total = sum(parameter.double().sum() for parameter in model.parameters())
print("loss", loss.item().hex(), "sum", total.item().hex())
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
