"""A model is laid out on the meta device, given memory, and trained."""

import torch

torch.manual_seed(0)
with torch.device("meta"):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
print(model(torch.empty(2, 4, device="meta")).shape, model[0].weight.is_meta)
model = model.to_empty(device="cpu")
for parameter in model.parameters():
    torch.nn.init.constant_(parameter, 0.5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(2, 4)).sum().backward()
optimizer.step()
ghost = torch.nn.Parameter(torch.empty(3, device="meta"))
ghost.grad = torch.empty(3, device="meta")
torch.optim.SGD([ghost], lr=0.1).step()
print(model[0].weight.tolist(), ghost.device)
