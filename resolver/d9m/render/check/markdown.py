"""The report of `d9m check` as Markdown, for an issue or a job summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from d9m.check.report import ProbeResult, Report
from d9m.render.check.text import counted, devices, headline, name, record_says


def render(report: Report) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in report.host.packages.items())
    hardware = ", ".join(devices(report)) if report.device != "cpu" else report.host.cpu
    same = sum(each.verdict == "no-difference-seen" for each in report.probes)
    head, text = headline(report)
    ran = (
        f"{same} of {len(report.probes)} probes showed no difference. A difference is proof; "
        "silence is not."
    )
    parts = [
        "## d9m check",
        f"**{head.text}** {text}",
        f"{hardware or report.device} · {packages} · knowledge base {report.d9m.kb_date}",
        "\n".join(f"- {each}" for each in _notes(report)),
        *_settings(report),
        *_probes(report),
        "" if report.settings_only else ran,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _notes(report: Report) -> Iterable[str]:
    yield from report.notes
    if report.interrupted:
        yield "Interrupted: this is what was known by then"
    for each in report.odd:
        ranks = ", ".join(map(str, each.ranks))
        yield (
            f"{each.probe} {each.dtype}, {each.arm}: rank {ranks} of {each.of} like devices has "
            "other bits"
        )


def _settings(report: Report) -> Iterable[str]:
    if report.settings:
        rows = [
            (each.status, f"`{each.name}`", each.expected, each.found, each.next)
            for each in report.settings
        ]
        yield _table(("status", "setting", "needed", "found", "next step"), rows)


def _probes(report: Report) -> Iterable[str]:
    told = [
        each
        for each in report.probes
        if each.verdict != "no-difference-seen" or each.kb == "contradicts"
    ]
    if told:
        told.sort(key=lambda each: (each.kb != "contradicts", each.verdict == "inconclusive"))
        head = ("verdict", "op and direction", "default", "advised", "cost", "our record", "")
        yield _table(head, [_row(each) for each in told])


def _row(probe: ProbeResult) -> tuple[str | None, ...]:
    cost = f"{probe.cost:.1f}x" if probe.cost is not None else None
    arms = (counted(probe.arms.get("default")), counted(probe.arms.get("advised")))
    return probe.verdict, name(probe), *arms, cost, record_says(probe), probe.reason


def _table(head: Sequence[str], rows: Iterable[Sequence[str | None]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(each) for each in line) + " |" for line in lines)


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("\n", " ")
