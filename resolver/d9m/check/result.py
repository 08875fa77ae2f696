"""The answer of `d9m check`. Field names are those of the JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from d9m import exit_codes
from d9m.about import __version__
from d9m.check.host import Host
from d9m.check.judge.chance import silence
from d9m.check.judge.expect import Agreement, Expected, agreement
from d9m.check.judge.observe import ArmResult, bounds, not_run, united, varies_by_default
from d9m.check.judge.verdict import Name, Proofs, judge
from d9m.check.messages import Deviation, Reading, Rung
from d9m.check.plan.arms import Arm
from d9m.check.plan.catalogue import Selected
from d9m.check.settings import FINDINGS, SettingCheck
from d9m.check.workers.run import Readings
from d9m.errors import ExitCode
from d9m.exit_codes import CommandResult
from d9m.model.advice import Tool
from d9m.model.op_syntax import Direction
from d9m.model.records import Outcome
from d9m.model.runs import Bounds

T = TypeVar("T")


class ProofResults(msgspec.Struct, frozen=True):
    """Proofs that a probe works; null: it has no such proof."""

    control: bool | None
    """Inputs that cannot meet gave one result."""
    order: bool | None
    """Another order of the same terms changed the bits."""
    planted: bool | None
    """A change of one unit in the last place was seen."""
    value: float | None
    """Error of the advised result against double precision, over the largest true value; null, too:
    no number.
    """


class ProbeResult(msgspec.Struct, frozen=True):
    id: str
    source: str | None
    op: str
    device: str
    dtype: str
    direction: Direction
    case: Rung
    """Rung of the ladder on which the arms were compared."""
    arms: dict[str, ArmResult]
    bounds: Bounds
    verdict: Name
    reason: str
    expected: Outcome | None
    agrees_with_kb: bool | None
    kb: Agreement
    cost: float | None
    """Time of a call with the advised settings over the default one."""
    proofs: ProofResults
    cost_range: tuple[float, float] | None = None
    """Between which the cost lies, as far as the calls of each arm differ in time."""
    chance: float | None = None
    """Where it differs by default and not with the advice: how likely that silence would be if
    nothing had changed.
    """


class RankDevice(msgspec.Struct, frozen=True):
    """One of several processes that checked together."""

    number: int
    node: str
    local: int
    device: str
    """Name of the device in its framework."""


class AgainstResult(msgspec.Struct, frozen=True):
    """The advised results against those of a machine of the same model and releases."""

    file: str
    machine: str
    """On which the reference was measured."""
    other: dict[str, tuple[str, str]]
    """Differences of this machine: here, there. Nothing is compared then."""
    same: list[str]
    differing: list[str]
    """Results that differ from the reference."""
    missing: list[str]
    """Results of the reference that this run could not compare."""


class OddResult(msgspec.Struct, frozen=True):
    """A result that some ranks do not share with the ranks whose devices are like theirs."""

    probe: str
    dtype: str
    arm: str
    ranks: list[int]
    """Those unlike the others; all of them where there is no majority."""
    of: int
    """Ranks with like devices."""


class Summary(msgspec.Struct, frozen=True):
    probed: int = 0
    nondeterministic: int = 0
    fixed: int = 0
    not_fixed: int = 0
    raised: int = 0
    contradictions: int = 0
    could_not_run: int = 0


class Report(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    host: Host
    settings: list[SettingCheck]
    probes: list[ProbeResult]
    summary: Summary
    device: str = "cpu"
    frameworks: dict[str, dict[str, Any]] = {}
    """Facts that each framework gave about its build and device."""
    left_out: list[str] = []
    """Advised settings that no bare process can make."""
    notes: list[str] = []
    ranks: list[RankDevice] = []
    odd: list[OddResult] = []
    settings_only: bool = False
    """Nothing was to be run."""
    newer: dict[str, str] = {}
    """Packages newer than every release on record, with the newest one there."""
    against: AgainstResult | None = None
    interrupted: bool = False
    seconds: float = 0.0
    worker_seconds: dict[str, float] = {}
    """Spent by all workers together in ``imports`` and in ``probes``, and of that inside ``ops``.
    """


def tool(kb_date: str) -> Tool:
    return Tool(__version__, kb_date)


def results(
    selected: Sequence[Selected],
    arms: Sequence[Arm],
    readings: Readings,
    device: str,
    expected: Mapping[str, Expected],
) -> list[ProbeResult]:
    """One result for each probe that was begun."""
    found: list[ProbeResult] = []
    for chosen in selected:
        if readings.of("default", chosen.key):
            claim = expected.get(chosen.probe.id)
            found.append(_result(chosen, arms, readings, device, claim))
    return found


def _result(
    selected: Selected,
    arms: Sequence[Arm],
    readings: Readings,
    device: str,
    expected: Expected | None,
) -> ProbeResult:
    probe = selected.probe
    found = {arm.name: readings.of(arm.name, selected.key) for arm in arms}
    seen = {name: united(several) for name, several in found.items() if several}
    for arm in arms:
        if arm.same_as in seen:
            seen[arm.name] = msgspec.structs.replace(seen[arm.same_as], same_as=arm.same_as)
        elif arm.name not in seen:
            seen[arm.name] = not_run(readings.broken.get(arm.name, "not run"))
    proofs = _proofs(found)
    verdict = judge(seen, proofs, selected.dtype, probe.tolerance)
    kb = agreement(expected, seen, verdict)
    return ProbeResult(
        id=probe.id,
        source=probe.source,
        op=probe.op,
        device=device,
        dtype=selected.dtype,
        direction=probe.direction,
        case=next((reading.rung for reading in found["default"] if reading.rung), Rung()),
        arms={arm.name: seen[arm.name] for arm in arms},
        bounds=bounds(seen[name] for name in ("default", "advised") if name in seen),
        verdict=verdict.name,
        reason=verdict.reason,
        expected=expected.outcome if expected else None,
        agrees_with_kb={"agrees": True, "contradicts": False, "fills": None, "silent": None}[kb],
        kb=kb,
        cost=_cost(seen),
        proofs=ProofResults(
            proofs.stable,
            proofs.sighted,
            all(proofs.planted) if proofs.planted else None,
            proofs.error("advised"),
        ),
        cost_range=_cost_range(seen),
        chance=proofs.silence if _differs_by_default_alone(seen) else None,
    )


def _differs_by_default_alone(seen: Mapping[str, ArmResult]) -> bool:
    return varies_by_default(seen) and "advised" in seen and seen["advised"].quiet


def _proofs(found: Mapping[str, Sequence[Reading]]) -> Proofs:
    default, advised = found.get("default", ()), found.get("advised", ())
    references: dict[str, Deviation] = {}
    for arm, readings in (("default", default), ("advised", advised)):
        for reading in readings:
            if reading.reference is not None:
                references[arm] = reading.reference
    both = [*default, *advised]
    return Proofs(
        controls=_given(reading.control for reading in both),
        planted=_given(reading.planted for reading in both),
        moved=_given(reading.moved for reading in both),
        references=references,
        silence=silence([*default, *found.get("default-again", ())], advised),
    )


def _given(values: Iterable[T | None]) -> tuple[T, ...]:
    return tuple(value for value in values if value is not None)


def _cost_range(seen: Mapping[str, ArmResult]) -> tuple[float, float] | None:
    before, after = (
        seen["default"].quartiles,
        seen["advised"].quartiles if "advised" in seen else None,
    )
    if before is None or after is None or not before[0]:
        return None
    return round(after[0] / before[1], 2), round(after[1] / before[0], 2)


def _cost(seen: Mapping[str, ArmResult]) -> float | None:
    before, after = seen.get("default"), seen.get("advised")
    if before is None or after is None or not before.seconds or after.seconds is None:
        return None
    return round(after.seconds / before.seconds, 2)


def summary(probes: Sequence[ProbeResult]) -> Summary:
    def count(*names: Name) -> int:
        return sum(probe.verdict in names for probe in probes)

    return Summary(
        probed=len(probes) - count("inconclusive"),
        nondeterministic=sum(varies_by_default(probe.arms) for probe in probes),
        fixed=count("fixed-by-advice"),
        not_fixed=count("not-fixed"),
        raised=count("raises"),
        contradictions=sum(probe.kb == "contradicts" for probe in probes),
        could_not_run=count("inconclusive"),
    )


def finding(probe: ProbeResult) -> bool:
    """Whether a person has to act: not where the advice fixes a default, or stops it with an error.

    Nondeterminism with the current settings is a finding where there is none without: then the
    environment causes it."""
    return (
        probe.verdict in ("not-fixed", "value-mismatch")
        or probe.kb == "contradicts"
        or (varies_in(probe, "as-is") and not varies_by_default(probe.arms))
    )


def varies_in(probe: ProbeResult, *arms: str) -> bool:
    return any(probe.arms[arm].varies for arm in arms if arm in probe.arms)


def exit_code(report: Report) -> ExitCode:
    """Return how a check ends: with 4 where no probe could run, or none could be compared."""
    settings = [setting.status for setting in report.settings]
    against = report.against
    is_different = against is not None and bool(against.differing)
    is_uncompared = against is not None and not against.same and not against.differing
    did_nothing = not settings if report.settings_only else not report.summary.probed
    return exit_codes.exit_code(
        CommandResult(
            did_nothing=did_nothing or is_uncompared,
            has_findings=is_different
            or bool(report.odd)
            or not set(FINDINGS).isdisjoint(settings)
            or any(finding(probe) for probe in report.probes),
            is_incomplete=bool(report.newer or report.interrupted or report.summary.could_not_run)
            or (against is not None and bool(against.missing)),
        )
    )
