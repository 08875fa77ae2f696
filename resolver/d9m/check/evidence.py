"""A run as a record: what one machine did, on one day, for records to cite as `measured`."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from d9m.check.host import Gpu
from d9m.check.observe import Bounds
from d9m.check.report import ProbeResult, Report
from d9m.records import Record

SHOWN = ("default", "advised", "advised-no-fill")


class Seen(Record, frozen=True, kw_only=True):
    """One arm: `differing` of `repeats` were other bits than the first."""

    repeats: int
    processes: int
    distinct: int
    differing: int
    changed: float = 0.0
    max_ulp: int | None = None
    raised: str | None = None
    failed: str | None = None


class Observation(Record, frozen=True, kw_only=True):
    """One probe of a run."""

    probe: str
    source: str | None
    op: str
    direction: str
    dtype: str
    case: dict[str, int]
    verdict: str
    reason: str = ""
    expected: str | None = None
    kb: str = "silent"
    bounds: Bounds
    arms: dict[str, Seen]
    cost: float | None = None


class Run(Record, frozen=True, kw_only=True):
    """``kb/evidence/runs/<name>.json``: one run of `d9m check` on named hardware."""

    schema_version: int
    tool: str
    kb_date: str
    date: str
    """Day, ISO 8601."""
    device: str
    cpu: str
    threads: int
    gpus: list[Gpu]
    container: str | None
    packages: dict[str, str]
    frameworks: dict[str, dict[str, Any]]
    settings: dict[str, str]
    """What the advised arm set."""
    observations: list[Observation]


def record(report: Report, today: datetime | None = None) -> Run:
    """The run as `kb/` keeps it: no names of people, hosts or paths."""
    when = today or datetime.now(timezone.utc)
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
        settings={each.name: each.expected or "" for each in report.settings if each.expected is not None},
        observations=[_observation(each) for each in report.probes],
    )


def _observation(probe: ProbeResult) -> Observation:
    arms = {
        name: Seen(
            repeats=arm.repeats,
            processes=arm.processes,
            distinct=arm.distinct,
            differing=arm.differing,
            changed=round(arm.changed, 6),
            max_ulp=arm.max_ulp,
            raised=arm.raised,
            failed=arm.failed,
        )
        for name, arm in probe.arms.items()
        if name in SHOWN
    }
    return Observation(
        probe=probe.id, source=probe.source, op=probe.op, direction=probe.direction, dtype=probe.dtype,
        case=probe.case, verdict=probe.verdict, reason=probe.reason, expected=probe.expected, kb=probe.kb,
        bounds=probe.bounds, arms=arms, cost=probe.cost,
    )  # fmt: skip
