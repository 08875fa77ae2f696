# pyright: basic
"""The first line of a stream: what the process is, and what may make it differ from another."""

from __future__ import annotations

import os
import sys

PREFIXES = (
    "CUBLAS", "CUDA_", "CUDNN_", "FLASH_", "GOTO_", "HIP", "HSA_", "JAX_", "KERAS_", "KMP_",
    "LD_PRELOAD", "MIOPEN_", "MKL", "NCCL_", "NPY_", "NUMEXPR_", "NVIDIA_TF32", "NVTE_", "OMP_",
    "ONEDNN_", "OPENBLAS_", "PYTHONHASHSEED", "PYTORCH_", "RCCL_", "ROCBLAS_", "ROCR_", "TF_",
    "TF32_", "TORCH_", "TORCHINDUCTOR_", "TRITON_", "XLA_",
)  # fmt: skip
"""How the names of variables begin that are recorded."""

VARYING = ("TORCHELASTIC_", "TF_CLI_", "CACHE", "_DIR", "_PID")
"""Parts of names that differ from run to run by nature."""

RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


def rank() -> int:
    """Of this process, as its launcher says; else as the group does that it has joined."""
    for name in RANKS:
        if os.environ.get(name, "").isdecimal():
            return int(os.environ[name])
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    return 0


def is_worker() -> bool:
    """Whether multiprocessing started this process, and no launcher gave it a rank.

    Such a process prepares data, or is a rank that its parent spawned: the first optimizer step
    tells.
    """
    if any(name in os.environ for name in RANKS):
        return False
    if any(word.startswith("--multiprocessing-fork") for word in sys.argv[1:2]):
        return True
    code = " ".join(_command_line())
    return "multiprocessing.spawn" in code or "multiprocessing.forkserver" in code


def _command_line() -> list:
    """Of this process: `multiprocessing.parent_process` is set only after `site` has run."""
    return list(getattr(sys, "orig_argv", ())) or _from_proc()


def _from_proc() -> list:
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [word.decode("utf-8", "replace") for word in file.read().split(b"\0")]
    except OSError:
        return []


def environment() -> dict:
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(PREFIXES) and not any(part in name for part in VARYING)
    }


def _arguments(argv: list) -> list:
    """As they were given. A notebook's kernel has a file for each start, which says nothing."""
    program = os.path.basename(argv[0]) if argv else ""
    return ["notebook"] if program == "ipykernel_launcher.py" else [program, *argv[1:]]


def header(session, number: int) -> dict:
    settings = session.settings
    found = {
        "d9m_trace": 1,
        "level": settings.level,
        "inputs": settings.inputs,
        "digest": session.digester.name,
        "steps": [settings.first, settings.last],
        "modules": settings.modules,
        "compiled": settings.compiled,
        "rank": rank(),
        "process": number,
        "parent": None,
        "argv": _arguments(getattr(sys, "argv", [""])),
        "python": "{}.{}.{}".format(*sys.version_info[:3]),
        "packages": {},
        "device": "cpu",
        "gpu": None,
        "threads": None,
        "hashseed": os.environ.get("PYTHONHASHSEED"),
        "env": environment(),
        "deterministic": {},
        "generators": {},
    }
    found["generators"].update(session.used_generators())
    for framework in session.frameworks:
        about, _done = session.guarded("a framework's header", framework.about)
        about = about or {}
        for several in ("packages", "deterministic"):
            found[several].update(about.pop(several, {}))
        found.update(about)
    return found
