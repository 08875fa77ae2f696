"""Memory formats go through a model as they do without a recorder."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.MaxPool2d(2)
)
model = model.to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
rows = torch.randn(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)
for _step in range(2):
    found = model(rows)
    found.sum().backward()
    optimizer.step()
    print(found.stride(), model[0].weight.grad.stride(), model[0].weight.stride())
    optimizer.zero_grad()
print([value.hex() for value in model[0].weight.flatten().tolist()])
torch.save(model.state_dict(), "model.pt")
