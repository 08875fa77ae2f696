"""On what the results of PyTorch's CPU ops depend: the batch, threads, instruction sets, types.

Runs in a Python that has PyTorch, on an x86 machine with two cores or more, within minutes:

    python tests/dispatch/torch_cpu.py kb/evidence/cpu/torch-2.13.0.json

A row alone is compared with the same row in a batch, and a run in a process of its own with one
under each variable of `VARIABLES`. `repeats` are calls of one process. Each entry holds how many
shapes differ, and of how many; of `repeats`, how many calls differ from the first.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

VARIABLES = {
    "ATEN_CPU_CAPABILITY": ["default", "avx2"],
    "MKL_CBWR": ["COMPATIBLE"],
    "MKL_ENABLE_INSTRUCTIONS": ["SSE4_2"],
    "ONEDNN_MAX_CPU_ISA": ["SSE41"],
    "OMP_NUM_THREADS": ["1"],
}
ROW = [(64, 512), (33, 1000), (256, 64)]
WIDE = [*ROW, (4, 200_000), (2, 70_001)]
SEQUENCE = [(16, 40, 64), (5, 33, 128)]
IMAGE = [(16, 3, 32, 32), (5, 16, 28, 28)]
OPS = {
    "torch.mm": ("torch.mm(x, w)", ROW),
    "torch.addmm": ("torch.addmm(b, x, w)", ROW),
    "torch.matmul": ("torch.matmul(x, w)", [*ROW, *SEQUENCE]),
    "torch.mv": ("torch.mv(x, w[:, 0])", ROW),
    "torch.einsum": ("torch.einsum('...k,kn->...n', x, w)", ROW),
    "torch.tensordot": ("torch.tensordot(x, w, 1)", ROW),
    "torch.bmm": ("torch.bmm(x, x.mT)", SEQUENCE),
    "torch.baddbmm": ("torch.baddbmm(x[:, :, :1], x, x.mT)", SEQUENCE),
    "torch.nn.functional.linear": ("F.linear(x, w.T, b)", [*ROW, *SEQUENCE]),
    "torch.nn.functional.bilinear": ("F.bilinear(x, x, w[None, :, :1] * w.T[:1])", ROW),
    "torch.nn.functional.conv1d": ("F.conv1d(x, x[:1].repeat(8, 1, 1)[..., :5])", SEQUENCE),
    "torch.nn.functional.conv2d": ("F.conv2d(x, k)", IMAGE),
    "torch.nn.functional.conv3d": ("F.conv3d(x[:, None], k[:, None, :2])", IMAGE),
    "torch.nn.functional.conv_transpose1d": ("F.conv_transpose1d(x, k1)", SEQUENCE),
    "torch.nn.functional.conv_transpose2d": ("F.conv_transpose2d(x, k.transpose(0, 1))", IMAGE),
    "torch.nn.functional.conv_transpose3d": (
        "F.conv_transpose3d(x[:, None], k[:1, None, :2].repeat(1, 8, 1, 1, 1))",
        IMAGE,
    ),
    "torch.nn.functional.scaled_dot_product_attention": (
        "F.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None])",
        SEQUENCE,
    ),
    "torch.nn.RNN": ("layer(torch.nn.RNN)(x)[0]", SEQUENCE),
    "torch.nn.LSTM": ("layer(torch.nn.LSTM)(x)[0]", SEQUENCE),
    "torch.nn.GRU": ("layer(torch.nn.GRU)(x)[0]", SEQUENCE),
    "torch.sum": ("x.sum(-1)", WIDE),
    "torch.mean": ("x.mean(-1)", WIDE),
    "torch.prod": ("x.prod(-1)", WIDE),
    "torch.norm": ("x.norm(dim=-1)", WIDE),
    "torch.std": ("x.std(-1)", WIDE),
    "torch.var": ("x.var(-1)", WIDE),
    "torch.logsumexp": ("x.logsumexp(-1)", WIDE),
    "torch.cumsum": ("x.cumsum(-1)", WIDE),
    "torch.cdist": ("torch.cdist(x, w.T)", ROW),
    "torch.nn.functional.softmax": ("x.softmax(-1)", WIDE),
    "torch.nn.functional.log_softmax": ("x.log_softmax(-1)", WIDE),
    "torch.nn.functional.layer_norm": ("F.layer_norm(x, x.shape[-1:])", WIDE),
    "torch.nn.functional.rms_norm": ("F.rms_norm(x, x.shape[-1:])", WIDE),
    "torch.nn.functional.group_norm": ("F.group_norm(x, 1)", IMAGE),
    "torch.nn.functional.avg_pool2d": ("F.avg_pool2d(x, 3)", IMAGE),
    "torch.nn.functional.interpolate": ("F.interpolate(x, scale_factor=2, mode='bilinear')", IMAGE),
    "torch.nn.functional.gelu": ("F.gelu(x)", ROW),
    "torch.exp": ("x.exp()", ROW),
    "torch.tanh": ("x.tanh()", ROW),
}
"""Op -> a call of which the first dimension is the batch, and shapes of `x`."""
TYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int64")
REPEATED = {
    "torch.Tensor.__getitem__": "gradient(lambda x: x[i])",
    "torch.index_put[accumulate=true]": "torch.zeros_like(x).index_put_((i,), v, accumulate=True)",
    "torch.put[accumulate=true]": "torch.zeros_like(x).put_(i, v, accumulate=True)",
    "torch.take": "gradient(lambda x: x.take(i))",
    "torch.index_add": "torch.zeros_like(x).index_add_(0, i, v)",
    "torch.scatter_add": "torch.zeros_like(x).scatter_add_(0, i, v)",
    "torch.gather": "gradient(lambda x: x.gather(0, i))",
}
CALLS = 100


def batched(call: str, shape: tuple[int, ...]) -> tuple[Any, bool]:
    """A result, and whether its first row has other bits where it is computed alone."""
    import torch

    torch.manual_seed(0)
    x = torch.rand(shape) + 0.1

    def layer(type_: Any) -> Any:
        torch.manual_seed(1)
        return type_(shape[-1], 48, batch_first=True)

    known = {
        "torch": torch,
        "F": torch.nn.functional,
        "layer": layer,
        "w": torch.rand(shape[-1], 96),
        "b": torch.rand(96),
        "k": torch.rand(8, shape[1], 3, 3),
        "k1": torch.rand(shape[1], 8, 3),
    }
    with torch.no_grad():
        whole, alone = (eval(call, {**known, "x": rows}) for rows in (x, x[:1]))
    return whole, not torch.equal(whole[:1], alone)


def results() -> dict[str, list[tuple[str, bool]]]:
    """Op -> for each shape a digest of the result, and whether it depends on the batch."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for name, (call, shapes) in OPS.items():
        for shape in shapes:
            whole, depends = batched(call, shape)
            digest = hashlib.sha256(whole.contiguous().numpy().tobytes()).hexdigest()
            found.setdefault(name, []).append((digest, depends))
    return found


def repeated(call: str, type_: str) -> int:
    """How many calls differ from the first."""
    import torch

    torch.manual_seed(0)
    dtype = getattr(torch, type_)
    i = torch.randint(0, 50, (400_000,))
    v = (torch.rand(len(i)) * 1000).to(dtype)
    x = torch.ones(50, dtype=dtype)

    def gradient(function: Any) -> Any:
        leaf = x.clone().requires_grad_()
        function(leaf).backward(v)
        return leaf.grad

    known = {"torch": torch, "gradient": gradient, "i": i, "v": v, "x": x}
    first, *others = (eval(call, known) for _ in range(CALLS))
    return sum(not torch.equal(first, each) for each in others)


def child(changes: dict[str, str]) -> dict[str, list[tuple[str, bool]]]:
    command = [sys.executable, __file__]
    done = subprocess.run(command, env={**os.environ, **changes}, check=True, capture_output=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(file: Path) -> None:
    import torch

    plain = child({})
    ops: dict[str, dict[str, list[int]]] = {}
    for name, runs in plain.items():
        ops[name] = {"batch": [sum(depends for _digest, depends in runs), len(runs)]}
    for variable, values in VARIABLES.items():
        others = [child({variable: value}) for value in values]
        for name, runs in plain.items():
            differ = 0
            for place, (digest, _depends) in enumerate(runs):
                differ += any(each[name][place][0] != digest for each in others)
            ops[name][variable] = [differ, len(runs)]
    repeats: dict[str, dict[str, list[int]]] = {}
    for name, call in REPEATED.items():
        for type_ in TYPES:
            if type_ != "int64" or "gradient" not in call:
                repeats.setdefault(name, {})[type_] = [repeated(call, type_), CALLS - 1]
    facts = {
        "package": "torch",
        "version": torch.__version__.partition("+")[0],
        "ops": ops,
        "repeats": repeats,
    }
    file.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        print(json.dumps(results()))
