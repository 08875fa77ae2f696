"""Tensors, models and outputs of models are pickled."""

import io
import pickle

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _step in range(2):
    found = model(torch.ones(2, 3))
    found.sum().backward()
    optimizer.step()
back = pickle.loads(pickle.dumps((model, optimizer, found.detach())))
print(back[0][0].weight.tolist(), back[1].state_dict(), back[2].tolist())
print(sorted(vars(found)), sorted(vars(model)), sorted(vars(optimizer)))
buffer = io.BytesIO()
torch.save(found, buffer)
buffer.seek(0)
print(torch.load(buffer).tolist())
print(pickle.loads(pickle.dumps(torch.autograd.backward)) is torch.autograd.backward)
