"""A checkpoint is written, read and gone on from."""

import torch


def made():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5))
    return model, torch.optim.AdamW(model.parameters())


def train(model, optimizer):
    for _step in range(2):
        model(torch.randn(4, 3)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()


model, optimizer = made()
train(model, optimizer)
whole = {
    "model": model.state_dict(),
    "optimizer": optimizer.state_dict(),
    "rng": torch.get_rng_state(),
}
torch.save(whole, "checkpoint.pt")
torch.save(model, "model.pt")
model, optimizer = made()
state = torch.load("checkpoint.pt")
model.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"])
torch.set_rng_state(state["rng"])
train(model, optimizer)
print([value.hex() for value in model[0].weight.flatten().tolist()])
torch.save(model.state_dict(), "resumed.pt")
