"""How to ask about an ATen operator."""

from __future__ import annotations


def own_kernel(name: str) -> str:
    """The query for what its own kernel does: its gradient is another operator."""
    own = "" if name.partition("[")[0].endswith("_backward") else ":forward"
    return f"aten::{name}{own}"
