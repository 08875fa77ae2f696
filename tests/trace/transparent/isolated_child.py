"""Children that the recorder does not reach, and one that it does."""

import subprocess
import sys

import torch

CODE = """
import sys
print(sys.flags.isolated, [path for path in sys.path if "d9m" in path])
print("sitecustomize" in sys.modules)
"""
weight = torch.nn.Parameter(torch.ones(2))
weight.sum().backward()
torch.optim.SGD([weight], lr=0.1).step()
for flags in (["-I"], ["-E"], []):
    done = subprocess.run([sys.executable, *flags, "-c", CODE], capture_output=True, text=True)
    print(flags, done.returncode, done.stdout, done.stderr)
print(weight.tolist())
