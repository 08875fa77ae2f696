"""The report of `d9m check` for a person at a terminal."""

from __future__ import annotations

from d9m.check.judge.observe import ArmResult
from d9m.check.report import ProbeResult, Report, exit_code
from d9m.check.settings import FINDINGS, SettingCheck
from d9m.render.page import Page, Span, Style

SHOWN = 8
"""Lines of one kind before the rest is only counted."""

MARKS: dict[str, tuple[str, Style]] = {
    "value-mismatch": ("[WRONG]", "bad"),
    "not-fixed": ("[no cure]", "bad"),
    "raises": ("[raises]", "bad"),
    "nondeterministic": ("[varies]", "bad"),
    "uninitialised-read": ("[unset mem]", "doubt"),
    "config-dependent": ("[config]", "doubt"),
    "fixed-by-advice": ("[fixed]", "good"),
}
"""Verdict -> word, worst first. Silence and what could not run are counted below."""

SHORT = {"forward": "fwd", "backward": "bwd"}


def name(probe: ProbeResult) -> str:
    """index-add fwd; with its type where that is not the usual one."""
    short = probe.id.partition("/")[2].removesuffix("-backward")
    return f"{short} {SHORT[probe.direction]}" + (
        "" if probe.dtype == "float32" else f" {probe.dtype}"
    )


def devices(report: Report) -> list[str]:
    """The GPUs by name: as NVML tells, else as the frameworks do."""
    told = [each.name for each in report.host.gpus]
    return told or list(
        dict.fromkeys(
            str(each["device"]) for each in report.frameworks.values() if each.get("device")
        )
    )


def counted(arm: ArmResult | None) -> str:
    if arm is None:
        return "-"
    if arm.failed:
        return "failed"
    return "raised" if arm.raised else f"{arm.differing} of {max(0, arm.repeats - 1)}"


def record_says(probe: ProbeResult) -> str:
    told = {
        "agrees": "agrees",
        "contradicts": f"says: {probe.expected}",
        "fills": "none yet",
        "silent": "-",
    }
    return told[probe.kb]


def render(report: Report, verbose: bool = False) -> Page:
    page = Page()
    head, text = headline(report)
    page.line(head, f"  {text}")
    _host(page, report)
    page.gap()
    _settings(page, report)
    _probes(page, report, verbose)
    _ranks(page, report)
    _trust(page, report)
    return page


def headline(report: Report) -> tuple[Span, str]:
    """The answer in a word, and what it rests on."""
    settings = sum(each.status in FINDINGS for each in report.settings)
    counts = [
        (settings, "setting to change", "settings to change"),
        (
            sum(each.verdict == "value-mismatch" for each in report.probes),
            "wrong value",
            "wrong values",
        ),
        (report.summary.not_fixed, "op without a cure", "ops without a cure"),
        (
            len({tuple(each.ranks) for each in report.odd}),
            "device unlike its twins",
            "devices unlike their twins",
        ),
        (report.summary.contradictions, "contradicts our records", "contradict our records"),
    ]
    text = ", ".join(
        f"{count} {one if count == 1 else many}" for count, one, many in counts if count
    )
    code = exit_code(report)
    if code == 1:
        return Span("FINDINGS", "bad"), text or "something varies in your environment"
    if code == 4:
        ran = any(each.arms["default"].repeats for each in report.probes if "default" in each.arms)
        none = (
            ("NO VERDICT", "what ran does not say enough")
            if ran
            else ("NOTHING RUN", "no probe could run here")
        )
        return Span(none[0], "bad"), none[1]
    if report.settings_only:
        return Span("SETTINGS HOLD", "good"), "nothing was run"
    head = Span("SETTINGS HOLD", "good") if code == 0 else Span("MOSTLY", "doubt")
    varied = report.summary.nondeterministic
    return (
        head,
        f"{report.summary.fixed} of {varied} that vary are fixed by the advice"
        if varied
        else "nothing varied",
    )


def _host(page: Page, report: Report) -> None:
    host = report.host
    for gpu in host.gpus:
        mig = "on" if gpu.mig else "off"
        page.line(
            f"{gpu.name} (sm_{gpu.compute_capability.replace('.', '')}, driver {gpu.driver}) · "
            f"MIG {mig}"
        )
    if not host.gpus and report.device != "cpu":
        page.paragraph(" · ".join(devices(report)))
    if host.gpu_note:
        page.paragraph(host.gpu_note, style="dim")
    if report.device == "cpu" and not report.settings_only:
        page.line(
            "No GPU here: CPU probes only"
            if host.device == "cpu" and not host.gpus
            else "CPU probes only: no GPU was used"
        )
    threads = {each["threads"] for each in report.frameworks.values() if each.get("threads")}
    used = (
        f", {max(threads)} threads for {host.threads} cores"
        if threads and report.device == "cpu"
        else ""
    )
    packages = " · ".join(f"{name} {version}" for name, version in host.packages.items())
    page.paragraph(f"{host.cpu}{used}" + (f" · {packages}" if packages else ""))
    arms = [each.arms["default"] for each in report.probes if "default" in each.arms]
    size = "settings only" if report.settings_only else f"{len(report.probes)} probes"
    if arms:
        most = max(arms, key=lambda each: each.repeats)
        size += f" x {most.repeats // max(1, most.processes)} repeats x {most.processes} processes"
    page.line(f"kb {report.d9m.kb_date} · {report.device} · {size} · {_time(report.seconds)}")
    for note in report.notes:
        page.paragraph(note, " !  ", style="doubt")
    if report.interrupted:
        page.line(Span("Interrupted: what follows is what was known by then", "doubt"))


def _time(seconds: float) -> str:
    return (
        f"{int(seconds // 60)} min {int(seconds % 60)} s" if seconds >= 60 else f"{seconds:.0f} s"
    )


def _settings(page: Page, report: Report) -> None:
    seen = [each for each in report.settings if each.status != "unseen"]
    rows = [
        (_status(each), each.name, each.expected or "-", each.found or "-", each.next or "-")
        for each in seen
    ]
    if rows:
        page.table(("Settings", "", "needed", "found", "next step"), rows, shrink=(4,))
    unseen = [each.name for each in report.settings if each.status == "unseen"]
    if unseen:
        page.paragraph(
            f"{'; '.join(unseen)}: live in your program, where no check can look",
            "[unseen]   ",
            " " * 11,
        )
    page.gap()


def _status(setting: SettingCheck) -> Span:
    return Span(
        f"[{setting.status.replace('-', ' ')}]", "bad" if setting.status in FINDINGS else ""
    )


def _probes(page: Page, report: Report, verbose: bool) -> None:
    told = sorted(
        (each for each in report.probes if each.verdict in MARKS or each.kb == "contradicts"),
        key=_place,
    )
    rows: list[tuple[Span, str, str, str, str, str]] = []
    more: dict[str, int] = {}
    for verdict in dict.fromkeys(_mark(each) for each in told):
        own = [each for each in told if _mark(each) == verdict]
        kept = own if verbose or verdict[1] == "bad" else own[:SHOWN]
        rows += [(Span(*verdict), *_row(each)) for each in kept]
        more[verdict[0]] = len(own) - len(kept)
    if rows:
        page.table(
            ("Probes", "op and direction", "default", "advised", "cost", "our record"),
            rows,
            shrink=(1,),
        )
        for mark, count in more.items():
            if count:
                page.line(f"            {count} more {mark.strip('[]')}: --verbose")
    for each in report.probes:
        if each.kb == "contradicts":
            page.paragraph(
                (
                    f"please send it: d9m check --ops {each.id} --evidence "
                    f"{each.id.partition('/')[2]}.json"
                ),
                "  ",
            )
    _others(page, report)
    _silent(page, report, verbose)
    page.gap()


def _others(page: Page, report: Report) -> None:
    """Arms that no advice makes: a variable at each of its values."""
    for each in report.probes:
        told = [f"{arm} {counted(found)}" for arm, found in each.arms.items() if "=" in arm]
        if told:
            page.paragraph(f"{name(each)}  {', '.join(told)}", "[also run]  ", " " * 12)


def _mark(probe: ProbeResult) -> tuple[str, Style]:
    return ("[REPORT]", "bad") if probe.kb == "contradicts" else MARKS[probe.verdict]


def _place(probe: ProbeResult) -> tuple[bool, int]:
    return probe.kb != "contradicts", list(MARKS).index(
        probe.verdict
    ) if probe.verdict in MARKS else -1


def _row(probe: ProbeResult) -> tuple[str, str, str, str, str]:
    cost = (
        f"{probe.cost:.1f}x" if probe.cost is not None and not probe.arms["advised"].raised else "-"
    )
    arms = (counted(probe.arms.get("default")), counted(probe.arms.get("advised")))
    return name(probe), *arms, cost, record_says(probe)


def _silent(page: Page, report: Report, verbose: bool) -> None:
    same = [each for each in report.probes if each.verdict == "no-difference-seen"]
    if same:
        worst = max(same, key=lambda each: each.bounds.repeat)
        page.paragraph(
            f"{len(same)} probe{'s' * (len(same) > 1)}: no difference "
            f"(under {worst.bounds.repeat:.1%} of calls at 95 %; "
            f"{worst.arms['default'].processes} process starts bound start-up effects only at "
            f"{worst.bounds.start:.0%}"
            + ("" if worst.arms["default"].processes > 3 else ": --full")
            + ")",
            "[same]      ",
            " " * 12,
        )
        if verbose:
            page.paragraph(", ".join(name(each) for each in same), " " * 12)
    _failed(page, report, verbose)


def _failed(page: Page, report: Report, verbose: bool) -> None:
    reasons: dict[str, list[str]] = {}
    for each in report.probes:
        if each.verdict == "inconclusive":
            reasons.setdefault(each.reason, []).append(name(each))
    for reason, names in reasons.items():
        who = f"{len(names)} probes" if len(names) > SHOWN and not verbose else ", ".join(names)
        page.paragraph(f"{who}  {reason}", "[failed]    ", " " * 12, "doubt")


def _ranks(page: Page, report: Report) -> None:
    """Devices that should be twins, and those that are not."""
    if not report.ranks:
        return
    if not report.odd:
        page.line(
            Span("Ranks       ", ""), f"{len(report.ranks)} ranks: like devices gave the same bits"
        )
    for ranks in dict.fromkeys(tuple(each.ranks) for each in report.odd):
        own = [each for each in report.odd if tuple(each.ranks) == ranks]
        who = ", ".join(
            f"rank {each.number} ({each.device}, {each.local} of {each.node})"
            for each in report.ranks
            if each.number in ranks
        )
        what = ", ".join(dict.fromkeys(each.probe for each in own))
        others = own[0].of - len(ranks)
        apart = (
            f"other bits than {others} like {'it' if len(ranks) == 1 else 'them'}"
            if others
            else "differ"
        )
        page.paragraph(f"{who}: {apart} in {what}", "[ODD]       ", " " * 12, "bad")
    page.gap()


def _trust(page: Page, report: Report) -> None:
    values = [each for each in report.probes if each.proofs.value is not None]
    wrong = [each for each in values if each.verdict == "value-mismatch"]
    controls = [each.proofs.control for each in report.probes if each.proofs.control is not None]
    orders = [each.proofs.order for each in report.probes if each.proofs.order is not None]
    if values:
        page.line(
            f"Values      advised results agree with float64: {len(values) - len(wrong)} of "
            f"{len(values)}"
        )
        for each in wrong:
            page.paragraph(f"{name(each)}: {each.reason}", " " * 12, style="bad")
    if controls:
        page.line(
            f"Controls    {sum(controls)} of {len(controls)} stable: the differences are the "
            "ops', not the prober's"
        )
    if orders:
        page.line(
            f"Power       {sum(orders)} of {len(orders)} would have seen another order of the "
            "same terms"
        )
    if report.left_out:
        page.paragraph(
            f"not made by the probes: {', '.join(report.left_out)}", "Left out    ", " " * 12
        )
    if report.probes:
        page.line('A difference is proof. "same" is not: it is what these repeats can show.')
