"""What a checkpoint did not restore, where one run goes on with it."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.trace.causes_found import GENERATORS
from d9m.trace.findings import Cause
from d9m.trace.process import ComparedProcess
from d9m.trace.settings_differ import is_rate

_STATES = {
    "parameters": "the state of the optimizer (gradients are equal, updates are not)",
    "gradients": "a state between the loss and the gradients, such as that of a gradient scaler",
    "loss": "a state that the forward pass uses, such as a buffer or a loss scale",
}
"""The first state that differs, where nothing else explains it."""


def lacking(processes: Sequence[ComparedProcess], causes: Sequence[Cause]) -> list[str]:
    """Return the states that the second run did not go on with."""
    found: dict[str, None] = {}
    if not any(process.resumed_after is not None for process in processes):
        return []
    for process in processes:
        for name in process.walker.generators.other_states:
            found[f"the state of {_generator(name)}"] = None
    for cause in causes:
        if cause.kind in ("generator", "seed"):
            found[f"the state of {_generator(cause.argument or 'torch')}"] = None
        elif cause.kind == "data-order":
            found["the position of the sampler, or its generator"] = None
        elif cause.kind == "argument" and is_rate(cause.argument or ""):
            found[f"the state of the scheduler ({cause.argument})"] = None
    if not found:
        states = [_STATES[cause.argument or ""] for cause in causes if cause.argument in _STATES]
        found = dict.fromkeys(states[:1])
    return list(found)


def _generator(name: str) -> str:
    if name in ("torch", "cpu"):
        return "PyTorch's generator"
    return GENERATORS.get(name, f"the generator of {name}")
