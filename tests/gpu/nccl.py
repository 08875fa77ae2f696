# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""Collectives among the ranks that fit one GPU: run with the rank, their number and a file to meet
at; prints one line of JSON.

    python nccl.py RANK SIZE FILE BACKEND
"""

import hashlib
import json
import sys
import time

import torch
import torch.distributed as dist

REPEATS = 64
ELEMENTS = 1 << 20


def main(rank, size, file, backend):
    device = "cuda" if backend == "nccl" else "cpu"
    found = {"rank": rank, "size": size, "backend": backend, "torch": str(torch.__version__)}
    if backend == "nccl":
        found["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
        torch.cuda.set_device(0)
    try:
        dist.init_process_group(backend, init_method=f"file://{file}", rank=rank, world_size=size)
        for name in ("all_reduce", "all_gather", "reduce_scatter"):
            try:
                found[name] = repeated(name, size, device)
            except (RuntimeError, ValueError, NotImplementedError) as error:
                found[name] = {"raised": short(error)}
        dist.destroy_process_group()
    except Exception as error:
        found["raised"] = short(error)
    print(json.dumps(found))


def repeated(name, size, device):
    make = torch.Generator().manual_seed(1)
    values = (torch.randn(ELEMENTS, generator=make) * 1e3).to(device)
    digests, times = set(), []
    for _ in range(REPEATS):
        began = time.perf_counter()
        result = collective(name, values.clone(), size)
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
        digests.add(hashlib.sha256(result.cpu().numpy().tobytes()).hexdigest()[:24])
    times.sort()
    return {
        "repeats": REPEATS,
        "distinct": len(digests),
        "digest": min(digests),
        "seconds": times[len(times) // 2],
        "quartiles": [times[len(times) // 4], times[3 * len(times) // 4]],
    }


def collective(name, values, size):
    if name == "all_reduce":
        dist.all_reduce(values)
        return values
    if name == "all_gather":
        several = [torch.empty_like(values) for _ in range(size)]
        dist.all_gather(several, values)
        return torch.cat(several)
    part = torch.empty(ELEMENTS // size, dtype=values.dtype, device=values.device)
    dist.reduce_scatter(part, list(values.chunk(size)))
    return part


def short(error):
    return type(error).__name__ + ": " + " ".join(str(error).split())[:600]


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
