"""A compiled training step, with a C++ compiler if there is one."""

import shutil

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())
backend = "inductor" if shutil.which("g++") else "aot_eager"
compiled = torch.compile(model, backend=backend)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _step in range(2):
    compiled(torch.ones(3, 4)).square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print([value.hex() for value in model[0].weight.flatten().tolist()])
print(
    torch._dynamo.utils.counters["stats"]["unique_graphs"],
    dict(torch._dynamo.utils.counters["graph_break"]),
)
