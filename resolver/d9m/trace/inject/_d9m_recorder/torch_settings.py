# pyright: basic
"""Settings of PyTorch that decide bits, and the states of its generators."""

from __future__ import annotations

SWITCHES = {
    "cudnn_benchmark": "backends.cudnn.benchmark",
    "cudnn_deterministic": "backends.cudnn.deterministic",
    "cudnn_tf32": "backends.cudnn.allow_tf32",
    "matmul_tf32": "backends.cuda.matmul.allow_tf32",
    "fill": "utils.deterministic.fill_uninitialized_memory",
}
"""Name in the stream -> attribute below `torch`. A release that lacks one has no entry."""


def deterministic(torch) -> dict:
    found = {
        "flag": torch.are_deterministic_algorithms_enabled(),
        "warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
    }
    for name, path in SWITCHES.items():
        value = _below(torch, path)
        if isinstance(value, bool):
            found[name] = value
    return found


def _below(torch, path: str):
    found = torch
    try:
        for name in path.split("."):
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
