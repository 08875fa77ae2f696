"""Complex parameters, conjugate and negative views, transforms."""

import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(4, dtype=torch.complex64))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _step in range(2):
    (torch.fft.fft(weight) * weight.conj()).abs().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print(weight.tolist(), weight.conj().is_conj(), weight.conj().imag.is_neg())
print(torch.view_as_real(weight.detach()).sum(0).tolist(), (1j * weight.detach().conj()).tolist())
