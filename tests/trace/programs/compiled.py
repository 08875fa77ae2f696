"""A compiled model, trained for three steps; the backend counts its graphs."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
graphs = []


def backend(graph, inputs):
    graphs.append(graph)
    return graph.forward


compiled = torch.compile(model, backend=backend)
x = torch.randn(4, 8)
for _step in range(3):
    optimizer.zero_grad()
    loss = compiled(x).pow(2).sum()
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
print("graphs", len(graphs), "breaks", breaks)
