"""A scripted and a traced model, trained and saved."""

import torch


class Branch(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, values):
        if values.sum() > 0:
            return self.inner(values)
        return values


torch.manual_seed(0)
model = torch.jit.script(Branch())
traced = torch.jit.trace(torch.nn.Linear(3, 3), torch.ones(2, 3))
optimizer = torch.optim.Adam([*model.parameters(), *traced.parameters()])
for step in range(2):
    (model(torch.ones(2, 3) - step).sum() + traced(torch.ones(2, 3)).sum()).backward()
    optimizer.step()
torch.jit.save(model, "model.pt")
print(model.code, traced.graph)
print(traced(torch.ones(1, 3)).tolist())
