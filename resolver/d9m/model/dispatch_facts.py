"""Which ATen operators the public ops of a framework end in: the type of
``evidence/dispatch/*.json``, which ``tests/dispatch/trace.py`` writes.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from d9m.model.wheel_facts import WheelFact


class DispatchTrace(WheelFact, frozen=True):
    """What samples of every op and layer of one release ran on the CPU and on no device at all."""

    package: str
    version: str
    ops: dict[str, dict[Literal["forward", "backward"], dict[str, str]]] = msgspec.field(default={})
    """Public name -> direction -> operator, with the arguments that decide whether it adds -> the
    argument of the op on which it depends: ``mode=bicubic``; empty if it is always reached, ``?``
    if no single argument says so.
    """
    aliases: dict[str, str] = msgspec.field(default={})
    """Another public name -> that of the op."""
