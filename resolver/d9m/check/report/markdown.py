"""The report of `d9m check` as Markdown, for an issue or a job summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from d9m.check.report import ops, text, verdict
from d9m.check.report.labels import (
    cost,
    counted,
    current,
    evidence_command,
    label,
    labels,
    record_says,
)
from d9m.check.result import ProbeResult, Report
from d9m.kb.store import KnowledgeBase


def render(kb: KnowledgeBase, report: Report) -> str:
    notes = map(_plain, [*text.notes(kb, report), *ops.odd_devices(report)])
    parts = [
        "## d9m check",
        f"**{_plain(verdict.sentences(report))}**",
        _plain(" · ".join(text.machine(kb, report))),
        _plain(text.extent(report)),
        "\n".join(f"- {note}" for note in notes),
        *_settings(report),
        *_probes(report),
        _plain(ops.values(report)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _settings(report: Report) -> Iterable[str]:
    rows: list[tuple[str | None, ...]] = []
    for check in report.settings:
        status = check.status.replace("-", " ")
        rows.append((status, f"`{check.name}`", check.expected, check.found, check.next))
    if rows:
        yield _table(("status", "setting", "needed", "found", "next step"), rows)


def _probes(report: Report) -> Iterable[str]:
    known = labels(report.probes)
    worth: list[ProbeResult] = []
    for probe in report.probes:
        if probe.verdict != "no-difference-seen" or probe.kb == "contradicts":
            worth.append(probe)
    worth.sort(key=lambda probe: (probe.kb != "contradicts", probe.verdict == "inconclusive"))
    if worth:
        head = ("op", "current settings", "advised settings", "time", "verdict", "")
        yield _table(head, [_row(probe, label(probe, known)) for probe in worth])
    same = len(report.probes) - len(worth)
    if same:
        yield f"{same} more were identical in every repeat. A difference is proof; silence is not."


def _row(probe: ProbeResult, name: str) -> tuple[str | None, ...]:
    remarks = [probe.reason]
    if probe.kb in ("contradicts", "fills"):
        remarks.append(
            f"{record_says(probe)}: please send us this run with `{evidence_command(probe)}`"
        )
    said = ". ".join(filter(None, remarks))
    arms = counted(current(probe)), counted(probe.arms.get("advised"))
    return name, *arms, cost(probe), probe.verdict, said


def _table(head: Sequence[str], rows: Iterable[Sequence[str | None]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str | None) -> str:
    return _plain(text or "").replace("|", "\\|")


def _plain(text: str) -> str:
    """Return text on one line, without markup."""
    return text.replace("\n", " ").replace("<", "&lt;")
