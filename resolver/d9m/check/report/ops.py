"""The table of ops in a report: what differed, with the current and the advised settings."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from d9m.check.report.labels import (
    cost,
    counted,
    current,
    evidence_command,
    label,
    labels,
    record_says,
    short,
)
from d9m.check.result import (
    AgainstResult,
    ProbeResult,
    RankDevice,
    Report,
    finding,
    varies_in,
)
from d9m.render.page import Page, Span
from d9m.render.phrases import plural

SHOWN = 8
"""Rows of one kind before the rest is only counted."""

COLUMNS = 38
"""Characters of a row without the name of its op."""

ORDER = (
    "value-mismatch",
    "not-fixed",
    "nondeterministic",
    "raises",
    "uninitialised-read",
    "config-dependent",
    "fixed-by-advice",
)
"""Verdicts that get a row, worst first; the others are counted."""

GOOD, BAD, DOUBT = Span("✓", "good"), Span("✗", "bad"), Span("!", "doubt")


def write(page: Page, report: Report, verbose: bool) -> None:
    known = labels(report.probes)
    rows = sorted((probe for probe in report.probes if _has_row(probe)), key=_place)
    if rows:
        _table(page, rows, known, verbose)
    elif report.probes:
        page.line(Span("Ops", "head"))
    _same(
        page,
        [probe for probe in report.probes if probe.verdict == "no-difference-seen"],
        known,
        verbose,
    )
    _undecided(page, report, known, verbose)
    _other_arms(page, report, known)


def _has_row(probe: ProbeResult) -> bool:
    return probe.verdict in ORDER or probe.kb == "contradicts"


def _place(probe: ProbeResult) -> tuple[bool, bool, int]:
    verdict = ORDER.index(probe.verdict) if probe.verdict in ORDER else -1
    return probe.kb != "contradicts", not finding(probe), verdict


def _table(page: Page, rows: Sequence[ProbeResult], known: dict[str, str], verbose: bool) -> None:
    width = min(page.width - COLUMNS, max(20, *(len(label(probe, known)) for probe in rows)))
    page.line(
        Span("Ops".ljust(width + 6) + "calls that differed", "head"), Span("      time", "head")
    )
    page.line(Span(" " * (width + 6) + "current     with advice", "dim"))
    seen: dict[str, int] = {}
    for probe in rows:
        seen[probe.verdict] = seen.get(probe.verdict, 0) + 1
        if verbose or probe.verdict != "fixed-by-advice" or seen[probe.verdict] <= SHOWN:
            _row(page, probe, label(probe, known), width)
    if not verbose and seen.get("fixed-by-advice", 0) > SHOWN:
        ops = plural(seen["fixed-by-advice"] - SHOWN, "more op")
        page.line("  ", GOOD, f" fixed by the advice as well: {ops} (--verbose)")


def _row(page: Page, probe: ProbeResult, name: str, width: int) -> None:
    columns = f"{counted(current(probe)):<12}{counted(probe.arms.get('advised')):<15}{cost(probe)}"
    *above, last = textwrap.wrap(name, width, break_on_hyphens=False) or [name]
    sign = _sign(probe)
    for at, part in enumerate([*above, last]):
        start = sign if at == 0 else Span(" ")
        page.line("  ", start, f" {part.ljust(width)}  " + (columns if part is last else ""))
    for text in _remarks(probe):
        page.paragraph(text, "      ")
    if probe.kb in ("contradicts", "fills"):
        page.line(f"      → {evidence_command(probe)}")


def _sign(probe: ProbeResult) -> Span:
    if finding(probe) or probe.verdict == "raises":
        return BAD
    return GOOD if probe.verdict == "fixed-by-advice" else DOUBT


def _remarks(probe: ProbeResult) -> Iterator[str]:
    """Yield what the numbers do not say."""
    own = current(probe)
    if varies_in(probe, "default") and own is not None and not own.varies:
        yield f"without settings, with more threads than cores: {counted(probe.arms['default'])}"
    if probe.reason and probe.verdict != "raises":
        yield probe.reason
    if probe.kb in ("contradicts", "fills"):
        yield f"{record_says(probe)}: please send us this run"


def _same(page: Page, same: Sequence[ProbeResult], known: dict[str, str], verbose: bool) -> None:
    if not same:
        return
    worst = max(same, key=lambda probe: probe.bounds.repeat)
    calls = _rarer(worst.bounds.repeat)
    starts = _rarer(max(probe.bounds.start for probe in same))
    who = "1 op was" if len(same) == 1 else f"{len(same)} ops were"
    own = worst.arms.get("default")
    more = "" if own is not None and own.processes > 3 else "; --full is stricter"
    text = (
        f"{who} identical in every repeat. A difference in fewer than {calls} calls, or "
        f"between fewer than {starts} program starts, may have been missed{more}."
    )
    page.marked(GOOD, "", text)
    if verbose:
        page.paragraph(", ".join(label(probe, known) for probe in same), "    ")


def _rarer(bound: float) -> str:
    """Return a bound as people say it: 3 of 100."""
    return (
        f"{math.ceil(min(bound, 1.0) * 100)} of 100"
        if bound >= 0.01
        else f"{math.ceil(bound * 1000)} of 1000"
    )


def _undecided(page: Page, report: Report, known: dict[str, str], verbose: bool) -> None:
    reasons: dict[str, list[str]] = {}
    for probe in report.probes:
        if probe.verdict == "inconclusive" and not _has_row(probe):
            reasons.setdefault(probe.reason, []).append(label(probe, known))
    for reason, names in reasons.items():
        who = f"{len(names)} ops" if len(names) > SHOWN and not verbose else ", ".join(names)
        page.marked(DOUBT, "", f"{who}: {reason}")


def _other_arms(page: Page, report: Report, known: dict[str, str]) -> None:
    """Write the arms that try a variable at each of its values."""
    for probe in report.probes:
        tried = [f"{arm} {counted(found)}" for arm, found in probe.arms.items() if "=" in arm]
        if tried:
            page.marked(Span("–"), "", f"{label(probe, known)}: {', '.join(tried)}")


def values(report: Report) -> str:
    """Return what the probes proved of themselves; empty where nothing ran."""
    probes = report.probes
    wrong = sum(map(_is_wrong, probes))
    right = sum(probe.proofs.value is not None and not _is_wrong(probe) for probe in probes)
    orders = [probe.proofs.order for probe in probes if probe.proofs.order is not None]
    controls = [probe.proofs.control for probe in probes if probe.proofs.control is not None]
    found: list[str] = []
    if right or wrong:
        found.append(f"Values: {right} of {right + wrong} agree with float64 on the CPU.")
    if orders:
        who = "every probe" if all(orders) else f"{sum(orders)} of {plural(len(orders), 'probe')}"
        found.append(f"Sensitivity: {who} can detect a changed order of summation.")
    if controls:
        found.append(f"{sum(controls)} of {plural(len(controls), 'control run')} stayed stable.")
    return " ".join(found)


def _is_wrong(probe: ProbeResult) -> bool:
    return probe.verdict == "value-mismatch"


def _rank_place(rank: RankDevice) -> str:
    return f"rank {rank.number} ({rank.device}, {rank.local} of {rank.node})"


def odd_devices(report: Report) -> Iterator[str]:
    """Yield a sentence for each device that differs from devices of its kind."""
    for ranks in dict.fromkeys(tuple(odd.ranks) for odd in report.odd):
        own = [odd for odd in report.odd if tuple(odd.ranks) == ranks]
        places = [rank for rank in report.ranks if rank.number in ranks]
        who = ", ".join(map(_rank_place, places))
        what = ", ".join(dict.fromkeys(short(odd.probe) for odd in own))
        others = own[0].of - len(ranks)
        than = (
            f"results differ from {others} devices of {'its' if len(ranks) == 1 else 'their'} kind"
            if others
            else "results differ"
        )
        yield f"{who or 'rank ' + ', '.join(map(str, ranks))}: {than} in {what}"


def against(found: AgainstResult) -> Iterator[tuple[Span, str]]:
    """Yield how the advised results compare with those of the reference."""
    for name, (here, there) in found.other.items():
        yield DOUBT, f"{name} is {here} here and {there} in {found.file}: nothing was compared"
    all_ = len(found.same) + len(found.differing)
    if found.differing:
        yield BAD, f"differs from {found.machine} in {', '.join(found.differing)}"
    if all_:
        sign = DOUBT if found.differing else GOOD
        equal = "result equals that" if all_ == 1 else "results equal those"
        yield sign, f"{len(found.same)} of {all_} {equal} of {found.machine}"
    if found.missing and not found.other:
        yield DOUBT, f"not compared: {', '.join(found.missing)}"
