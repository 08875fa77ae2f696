# pyright: basic
"""Settings of PyTorch that decide bits, and the states of its generators."""

from __future__ import annotations

import functools

FILL = "torch.utils.deterministic.fill_uninitialized_memory"
SWITCHES = (
    "torch.backends.cudnn.enabled",
    "torch.backends.cudnn.benchmark",
    "torch.backends.cudnn.deterministic",
    "torch.backends.cudnn.allow_tf32",
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "torch.backends.mkldnn.enabled",
    FILL,
)
"""Attributes that are switches. A release that lacks one has no entry in the stream."""

ASKED = {
    "torch.set_float32_matmul_precision": "torch.get_float32_matmul_precision",
    "torch.set_default_dtype": "torch.get_default_dtype",
    "torch.backends.cuda.enable_flash_sdp": "torch.backends.cuda.flash_sdp_enabled",
    "torch.backends.cuda.enable_mem_efficient_sdp": "torch.backends.cuda.mem_efficient_sdp_enabled",
    "torch.backends.cuda.enable_math_sdp": "torch.backends.cuda.math_sdp_enabled",
    "torch.backends.cuda.enable_cudnn_sdp": "torch.backends.cuda.cudnn_sdp_enabled",
}
"""Function that sets something -> the function that a program calls to be given it."""


class Switches:
    """The settings that decide results in this release, read at the end of each step."""

    def __init__(self, torch) -> None:
        self._readers = [
            ("torch.use_deterministic_algorithms", torch.are_deterministic_algorithms_enabled),
            ("warn_only", torch.is_deterministic_algorithms_warn_only_enabled),
        ]
        for name in SWITCHES:
            owner, _dot, attribute = name.rpartition(".")
            module = _below(torch, owner)
            if isinstance(_read(getattr, module, attribute, None), bool):
                self._readers.append((name, functools.partial(getattr, module, attribute)))
        for name, asked in ASKED.items():
            getter = _below(torch, asked)
            if getter is not None:
                self._readers.append((name, getter))

    def now(self) -> dict:
        """Name -> value. One that torch refuses to say has no entry."""
        found = {}
        for name, reader in self._readers:
            value = _read(reader)
            if value is not None:
                found[name] = value if isinstance(value, bool) else str(value)
        return found


def fills(torch) -> bool:
    """Whether torch writes new memory in its deterministic mode."""
    return _below(torch, FILL) is True


def instructions(torch):
    """The instruction set that torch computes with on the CPU."""
    asked = _below(torch, "torch.backends.cpu.get_cpu_capability")
    return None if asked is None else _read(asked)


def _read(reader, *arguments):
    try:
        return reader(*arguments)
    except (RuntimeError, AssertionError):  # old and new switches mixed; a name that 1.12 lacks
        return None


def _below(torch, path: str):
    found = torch
    for name in path.split(".")[1:]:
        found = getattr(found, name, None)
    return found


def generators(torch, digester) -> dict:
    """Digests of the states of the default generators that were ever used."""
    found = {"torch": state(torch.default_generator, digester)}
    if torch.cuda.is_initialized():
        for number, generator in enumerate(torch.cuda.default_generators):
            found[f"cuda:{number}"] = state(generator, digester)
    return found


def default_generator(torch, device):
    """The one that an op on this device draws from; None where torch keeps it to itself."""
    if device.type == "cpu":
        return torch.default_generator
    if device.type == "cuda" and torch.cuda.is_initialized():
        index = torch.cuda.current_device() if device.index is None else device.index
        return torch.cuda.default_generators[index]
    return None


def state(generator, digester) -> str:
    """Digest of a generator's state. No state of a GPU is waited for."""
    data = generator.get_state()
    return digester.at(data.data_ptr(), data.numel())
