"""From the report of a run to the record that `kb/` keeps of it."""

from __future__ import annotations

from datetime import datetime, timezone

from d9m.check.judge.observe import ArmResult
from d9m.check.result import ProbeResult, Report
from d9m.model.runs import Observation, Run, Seen

SHOWN = ("default", "advised", "advised-no-fill")
"""Arms of a record, next to those of a single setting."""


def record(report: Report, today: datetime | None = None) -> Run:
    """The run as `kb/` keeps it: no names of people, hosts or paths."""
    when = today or datetime.now(timezone.utc)
    settings: dict[str, str] = {}
    for setting in report.settings:
        if setting.expected is not None:
            settings[setting.name] = setting.expected
    return Run(
        schema_version=report.schema_version,
        tool=f"d9m {report.d9m.version}",
        kb_date=report.d9m.kb_date,
        date=when.date().isoformat(),
        device=report.device,
        cpu=report.host.cpu,
        threads=report.host.threads,
        gpus=report.host.gpus,
        container=report.host.container,
        packages=report.host.packages,
        frameworks=report.frameworks,
        settings=settings,
        interrupted=report.interrupted,
        observations=[_observation(probe) for probe in report.probes],
    )


def _observation(probe: ProbeResult) -> Observation:
    shown = [name for name in probe.arms if name in SHOWN or "=" in name]
    return Observation(
        probe=probe.id,
        source=probe.source,
        op=probe.op,
        direction=probe.direction,
        dtype=probe.dtype,
        case=probe.case,
        verdict=probe.verdict,
        reason=probe.reason or None,
        expected=probe.expected,
        kb=probe.kb,
        bounds=probe.bounds,
        arms={name: _seen(probe.arms[name]) for name in shown},
        cost=probe.cost,
    )


def _seen(arm: ArmResult) -> Seen:
    return Seen(
        repeats=arm.repeats,
        processes=arm.processes,
        distinct=arm.distinct,
        differing=arm.differing,
        changed=round(arm.changed, 6),
        max_ulp=arm.max_ulp,
        seconds=_short(arm.seconds),
        quartiles=_pair(arm.quartiles),
        raised=arm.raised,
        failed=arm.failed,
    )


def _short(seconds: float | None) -> float | None:
    """To three digits; more is noise."""
    return float(f"{seconds:.3g}") if seconds is not None else None


def _pair(quartiles: tuple[float, float] | None) -> tuple[float, float] | None:
    if quartiles is None:
        return None
    return float(f"{quartiles[0]:.3g}"), float(f"{quartiles[1]:.3g}")
