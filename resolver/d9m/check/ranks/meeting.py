"""The rank of this process, when a launcher started one for each device."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from d9m.errors import UsageError, quote


class Rank(msgspec.Struct, frozen=True):
    number: int
    size: int
    local: int
    """Number among the ranks of its machine."""


NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""Variables that torchrun and its like set for every process they start."""


def find(variables: Mapping[str, str]) -> Rank | None:
    """Return the rank of this process; None: there is only one. Raises UsageError for variables
    that contradict each other.
    """
    if int_of(variables, "WORLD_SIZE", 1) < 2:
        return None
    missing = [name for name in NEEDED if name not in variables]
    if missing:
        raise UsageError(
            (
                f"WORLD_SIZE says that several processes check together, but {', '.join(missing)} "
                "is "
                "not set"
            ),
            tip="start them with torchrun, or unset WORLD_SIZE",
        )
    rank = Rank(
        int_of(variables, "RANK"),
        int_of(variables, "WORLD_SIZE"),
        int_of(variables, "LOCAL_RANK", 0),
    )
    if not 0 <= rank.number < rank.size:
        raise UsageError(f"RANK={rank.number} is not below WORLD_SIZE={rank.size}")
    return rank


def int_of(variables: Mapping[str, str], name: str, default: int | None = None) -> int:
    text = variables.get(name)
    if text is None and default is not None:
        return default
    try:
        return int(text or "")
    except ValueError:
        raise UsageError(f"{name}={quote(text or '')} is not a number") from None


VISIBLE = {"cuda": "CUDA_VISIBLE_DEVICES", "rocm": "HIP_VISIBLE_DEVICES"}
"""Device -> the variable of its driver that says which of them a process sees."""


def own_device(rank: Rank, device: str, variables: Mapping[str, str]) -> dict[str, str]:
    """The variable that leaves a rank only its own device; none where there is nothing to choose.

    Raises UsageError for a rank that is left without one.
    """
    name = VISIBLE.get(device)
    if name is None:
        return {}
    if name not in variables:
        return {name: str(rank.local)}
    seen = [item.strip() for item in variables[name].split(",") if item.strip()]
    if len(seen) < 2:
        return {}  # the launcher has chosen, or all are hidden
    if rank.local >= len(seen):
        raise UsageError(f"{name}={variables[name]} leaves no device for LOCAL_RANK={rank.local}")
    return {name: seen[rank.local]}
