"""From the report of a run to the record that `kb/` keeps of it."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import msgspec

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
    found: dict[str, Any] = msgspec.structs.asdict(probe)
    found |= {"probe": probe.id, "reason": probe.reason or None}
    found["arms"] = {name: _seen(probe.arms[name]) for name in shown}
    return Observation(**{name: found[name] for name in Observation.__struct_fields__})


def _seen(arm: ArmResult) -> Seen:
    """Return an arm with its times to three digits; more is noise."""
    lower, upper = arm.quartiles or (None, None)
    times = [None if each is None else float(f"{each:.3g}") for each in (arm.seconds, lower, upper)]
    found = msgspec.convert(arm, Seen, from_attributes=True)
    return msgspec.structs.replace(
        found,
        changed=round(arm.changed, 6),
        seconds=times[0],
        quartiles=tuple(times[1:]) if arm.quartiles else None,
    )
