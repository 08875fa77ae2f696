"""The name of a probe, what its arms saw, and what our record says of it, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from d9m.check.judge.observe import ArmResult
from d9m.check.plan.catalogue import Probe
from d9m.check.result import ProbeResult

RECORDS = {
    "no-known-source": "our records know of no nondeterminism in it",
    "deterministic": "our record says that it is deterministic without settings",
    "solved": "our record says that it is deterministic with the advised settings",
    "depends": "our record says that it depends on the call",
    "unknown": "our records do not cover it",
    "raises": "our record says that it raises an error with the advised settings",
    "unsolved": "our record says that it is nondeterministic and no setting fixes it",
}
"""Outcome that a record gives -> the sentence for it."""


def labels(probes: Sequence[ProbeResult | Probe]) -> dict[str, str]:
    """Return probe id -> its op, with its own name where several probes exercise that op."""
    ids = {probe.id: probe for probe in probes}
    plain = {id_: _op(probe) for id_, probe in ids.items()}
    often = Counter(plain.values())
    found = dict(plain)
    for id_, label in plain.items():
        if often[label] > 1:
            found[id_] = f"{label} ({short(id_)})"
    return found


def _op(probe: ProbeResult | Probe) -> str:
    name = probe.op.rpartition(".")[2].removeprefix("__").removesuffix("__")
    return f"{name} backward" if probe.direction == "backward" else name


def short(id_: str) -> str:
    """Return ``index-add`` of ``torch/index-add``."""
    return id_.partition("/")[2]


def label(probe: ProbeResult, known: dict[str, str]) -> str:
    """Return the name of a probe, with its element type unless that is float32."""
    return known[probe.id] if probe.dtype == "float32" else f"{known[probe.id]} {probe.dtype}"


def counted(arm: ArmResult | None) -> str:
    """Return how many calls differed from the most common result: ``90 of 95``."""
    if arm is None or arm.failed == "not run":
        return "not run"
    if arm.failed:
        return "failed"
    return "raises" if arm.raised else f"{arm.differing} of {max(0, arm.repeats - 1)}"


def current(probe: ProbeResult) -> ArmResult | None:
    """Return the arm with the user's own settings; where that was not run, the one without."""
    own = probe.arms.get("as-is")
    return probe.arms.get("default") if own is None or own.failed == "not run" else own


def cost(probe: ProbeResult) -> str:
    """Return how many times as long a call takes with the advice; 1 within the noise."""
    advised = probe.arms.get("advised")
    if probe.cost is None or advised is None or advised.raised:
        return "–"
    least, most = probe.cost_range or (probe.cost, probe.cost)
    if least <= 1.0 <= most:
        return "1×"
    return f"{probe.cost:.1f}×" if probe.cost >= 0.05 else "<0.1×"


def record_says(probe: ProbeResult) -> str:
    """Return the sentence about the record; of the default where only that contradicts it."""
    if (
        probe.kb == "contradicts"
        and probe.expected == "solved"
        and probe.verdict == "fixed-by-advice"
    ):
        return RECORDS["deterministic"]
    return RECORDS[probe.expected or "unknown"]


def evidence_command(probe: ProbeResult) -> str:
    return f"d9m check --ops {probe.id} --evidence {short(probe.id)}.json"
