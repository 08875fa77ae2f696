"""Which CUDA functions add in any order, from the sources of a release: the type of
``evidence/atomics/*.json``.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from d9m.model.wheel_facts import WheelFact

KernelHow = Literal["atomic-add", "look-back"]
"""Atomic additions or multiplications; a scan or a reduction by key whose blocks wait for each
other.
"""


class KernelUse(WheelFact, frozen=True, order=True):
    """A function that no other one of its file calls."""

    file: str
    function: str
    how: KernelHow
    alert: str = ""
    """The name passed to the function that rejects a nondeterministic operation."""
    asks: bool = False
    """Whether it, or what it calls on the way, asks for the switch."""


class KernelTable(WheelFact, frozen=True):
    """The kernels in the sources of one release."""

    package: str
    version: str
    file: str
    """The archive."""
    sha256: str
    uses: list[KernelUse] = msgspec.field(default=[])
