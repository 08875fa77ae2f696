"""Whether a function returns the same twice, in one process."""

from __future__ import annotations

import copy
import ctypes
import random
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest


def repeat(
    item: pytest.Item, function: Callable[..., Any], *args: Any, runs: int = 2, **named: Any
) -> Any:
    """Return the result of calls that were bitwise equal. Each begins with copies of the arguments
    and with the same states of the generators of Python, NumPy and PyTorch.
    """
    if runs < 2:
        raise ValueError(f"runs is {runs}; at least 2 can be compared")
    restore = _generators()
    first, bits = None, dict[str, object]()
    for number in range(runs):
        restore()
        given, words = copy.deepcopy((args, named))
        result = function(*given, **words)
        found = dict[str, object]()
        _collect(result, "result", found)
        if number == 0:
            first, bits = result, found
        elif found != bits:
            place = next(name for name in {**bits, **found} if bits.get(name) != found.get(name))
            text = f"call 1 and call {number + 1} in one process differ, first in {place}"
            pytest.fail(f"{getattr(function, '__name__', function)}: {text}", pytrace=False)
    item.user_properties.append(("d9m.repeat", f"equal in {runs} of {runs} calls in one process"))
    return first


def _generators() -> Callable[[], None]:
    """Return what gives the generators the states that they have now."""
    setters: list[tuple[Callable[[Any], object], Any]] = [(random.setstate, random.getstate())]
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        setters.append((numpy.random.set_state, numpy.random.get_state()))
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        setters.append((torch.set_rng_state, torch.get_rng_state()))
        if torch.cuda.is_initialized():
            setters.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))

    def restore() -> None:
        for setter, state in setters:
            setter(state)

    return restore


def _collect(value: Any, place: str, found: dict[str, object]) -> None:
    """Add the bits of each tensor and number, by where they are. Raises TypeError."""
    if hasattr(value, "state_dict"):
        value = value.state_dict()
    if isinstance(value, (list, tuple)):
        value = dict[object, Any](enumerate(value))  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, Mapping):
        found[place] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        for name, each in value.items():  # pyright: ignore[reportUnknownVariableType]
            _collect(each, f"{place}[{name!r}]", found)
    elif value is None or isinstance(value, (str, bytes, int)):
        found[place] = value
    elif isinstance(value, (float, complex)):
        found[place] = repr(value)
    elif hasattr(value, "detach"):
        flat = value.detach().cpu().resolve_conj().resolve_neg().contiguous()
        size = flat.numel() * flat.element_size()
        data = ctypes.string_at(flat.data_ptr(), size) if size else b""
        found[place] = str(value.dtype), tuple(value.shape), data
    elif hasattr(value, "__array__"):
        array = value.__array__()
        if array.dtype.hasobject:
            raise TypeError(f"{place} has no bits to compare: an array of objects")
        found[place] = str(array.dtype), array.shape, array.tobytes()
    else:
        raise TypeError(f"{place} has no bits to compare: {type(value).__name__}")
