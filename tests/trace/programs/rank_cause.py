"""Two ranks over gloo. What varies is on rank 1 alone: it picks rows, whose gradients are added in
no fixed order.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

ROWS, WIDTH, PICKED = 64, 256, 4096


class RowsOrTable(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(ROWS, WIDTH))

    def forward(self, i):
        return self.table if i is None else self.table[i]


dist.init_process_group("gloo")
torch.set_num_threads(8)
torch.manual_seed(0)
net = DistributedDataParallel(RowsOrTable())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, fused=True)
i, weight = torch.randint(ROWS, (PICKED,)), torch.randn(PICKED, WIDTH)
for _step in range(2):
    optimizer.zero_grad()
    picked = net(i) * weight if dist.get_rank() == 1 else net(None)
    picked.square().sum().backward()
    optimizer.step()
dist.destroy_process_group()
