"""Every warning is an error, also where the output of a model is saved."""

import warnings

warnings.simplefilter("error")

import torch  # noqa: E402

torch.manual_seed(0)
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _step in range(2):
    found = model(torch.ones(2, 3))
    torch.save(found, "found.pt")
    found.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print(model.weight.tolist())
