"""The facts that have to hold before any verdict is given."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m.check.result import ProbeResult
from d9m.errors import AbsentError

VARIES = "torch/index-put-accumulate"
"""Sums of several threads: in float32 it always varies with eight threads, on one core as well."""


class SelftestFact(msgspec.Struct, frozen=True):
    text: str
    holds: bool
    seen: str


def facts(probe: ProbeResult | None) -> list[SelftestFact]:
    """Of the run of `VARIES`. Raises AbsentError where it could not be run: then nothing is proved
    either way.
    """
    if probe is None or not {"default", "advised"} <= probe.arms.keys():
        raise AbsentError("the self-test could not run")
    default, advised = probe.arms["default"], probe.arms["advised"]
    if default.failed or default.raised:
        raise AbsentError(f"the self-test could not run: {probe.reason}")
    fix = SelftestFact(
        "the advised settings fix it", advised.quiet, _count(advised.differing, advised.repeats)
    )
    return [*_sight(probe), fix]


def _sight(probe: ProbeResult) -> list[SelftestFact]:
    """Return what depends on the prober alone, whatever the settings do."""
    default, proofs = probe.arms["default"], probe.proofs
    seen = _count(default.differing, default.repeats)
    return [
        SelftestFact("index_put(accumulate=True) differs without settings", default.varies, seen),
        SelftestFact(
            "with unique indices it is deterministic", proofs.control is True, _yes(proofs.control)
        ),
        SelftestFact(
            "another order of inputs changes the result",
            proofs.order is True,
            _yes(proofs.order),
        ),
        SelftestFact(
            "a planted change of 1 ulp is seen", proofs.planted is True, _yes(proofs.planted)
        ),
    ]


def missed(probes: Sequence[ProbeResult]) -> list[str]:
    """Return what a run on a CPU should have seen and did not; empty where `VARIES` was not run,
    or is not known to vary.

    In float32 only: PyTorch adds other types in one thread.
    """
    found: list[str] = []
    for probe in probes:
        if _is_expected_to_vary(probe) and _is_proved(probe):
            found += [fact.text for fact in _sight(probe) if not fact.holds]
    return found


def _is_expected_to_vary(probe: ProbeResult) -> bool:
    place = (probe.id, probe.dtype, probe.device, probe.expected)
    return place == (VARIES, "float32", "cpu", "solved")


def _is_proved(probe: ProbeResult) -> bool:
    """Whether it ran, and the prober checked itself while it did."""
    proofs = probe.proofs
    ran = "default" in probe.arms and probe.arms["default"].repeats
    return bool(ran) and None not in (proofs.control, proofs.order, proofs.planted)


def withheld(probes: Sequence[ProbeResult], why: str) -> list[ProbeResult]:
    """The same probes without a verdict: what was counted stays, what it means is not known."""
    unknown = {"verdict": "inconclusive", "reason": why, "kb": "silent", "agrees_with_kb": None}
    return [msgspec.structs.replace(probe, **unknown) for probe in probes]


def _count(differing: int, repeats: int) -> str:
    return f"{differing} of {max(0, repeats - 1)} repeats differ from the first"


def _yes(found: bool | None) -> str:
    return "yes" if found else "no"
