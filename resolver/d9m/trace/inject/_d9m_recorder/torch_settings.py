# pyright: basic
"""Settings of PyTorch that decide bits, and the states of its generators."""

from __future__ import annotations

FILL = "torch.utils.deterministic.fill_uninitialized_memory"
SWITCHES = (
    "torch.backends.cudnn.benchmark",
    "torch.backends.cudnn.deterministic",
    "torch.backends.cudnn.allow_tf32",
    "torch.backends.cuda.matmul.allow_tf32",
    FILL,
)
"""Attributes that are switches. A release that lacks one has no entry in the stream."""


def deterministic(torch) -> dict:
    found = {
        "torch.use_deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
    }
    for name in SWITCHES:
        value = _below(torch, name)
        if isinstance(value, bool):
            found[name] = value
    return found


def _below(torch, path: str):
    found = torch
    try:
        for name in path.split(".")[1:]:
            found = getattr(found, name)
    except (AttributeError, RuntimeError):  # RuntimeError: old and new switches were mixed
        return None
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
