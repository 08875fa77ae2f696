"""A model is only called: without gradients, and in inference mode."""

import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
rows = torch.randn(2, 3, 8)
with torch.no_grad():
    print(model(rows).sum().item().hex())
with torch.inference_mode():
    found = model(rows)
    found.add_(1)
    print(found.is_inference(), found.sum().item().hex())
torch.save(found.clone(), "found.pt")
