"""The report of `d9m check` at a terminal: the verdict, the settings, the ops, the values."""

from __future__ import annotations

from collections import Counter

from d9m.check.progress import duration
from d9m.check.report import ops, verdict
from d9m.check.result import Report
from d9m.check.settings import FINDINGS, SettingCheck
from d9m.kb.store import KnowledgeBase
from d9m.model.runs import Gpu
from d9m.render import phrases
from d9m.render.page import WIDTH, Page, Span


def render(kb: KnowledgeBase, report: Report, verbose: bool = False, width: int = WIDTH) -> Page:
    page = Page(width)
    page.paragraph(verdict.sentences(report), style=verdict.style(report))
    page.paragraph(" · ".join(machine(kb, report)), style="dim")
    page.paragraph(extent(report), style="dim")
    for note in notes(kb, report):
        page.marked(ops.DOUBT, "", note)
    page.gap()
    _settings(page, report)
    ops.write(page, report, verbose)
    page.gap()
    _ranks(page, report)
    _against(page, report)
    page.paragraph(ops.values(report))
    if report.left_out and report.probes:
        page.paragraph(f"The probes do not make these settings: {', '.join(report.left_out)}.")
    return page


def machine(kb: KnowledgeBase, report: Report) -> list[str]:
    """Return the hardware and packages."""
    host = report.host
    gpus = Counter(map(_gpu, host.gpus))
    found = [gpu if count == 1 else f"{count} × {gpu}" for gpu, count in gpus.items()]
    if not found and report.device != "cpu":
        devices = [facts.get("device") for facts in report.frameworks.values()]
        found = list(dict.fromkeys(str(device) for device in devices if device))
    if report.device == "cpu" or not found:
        found.append(f"{host.cpu}, {phrases.plural(host.threads, 'core')}")
    for name, version in host.packages.items():
        found.append(f"{phrases.title(kb, name)} {version}")
    return found


def _gpu(gpu: Gpu) -> str:
    return f"{gpu.name} (driver {gpu.driver}{', MIG' if gpu.mig else ''})"


def extent(report: Report) -> str:
    """Return how much was run, and on what."""
    if report.settings_only:
        return f"settings only · records of {report.d9m.kb_date}"
    arms = [probe.arms["default"] for probe in report.probes if "default" in probe.arms]
    most = max(arms, key=lambda arm: arm.repeats, default=None)
    found = [f"{phrases.plural(len(report.probes), 'probe')} on the {_device(report)}"]
    if most is not None and most.processes:
        where = "1 process" if most.processes == 1 else f"each of {most.processes} processes"
        found.append(f"{most.repeats // most.processes} repeats in {where}")
    return f"{', '.join(found)}, {duration(report.seconds)} · records of {report.d9m.kb_date}"


def _device(report: Report) -> str:
    if report.device != "cpu":
        return phrases.DEVICES.get(report.device, report.device) + " device"
    threads = [facts["threads"] for facts in report.frameworks.values() if facts.get("threads")]
    return f"CPU with {max(threads)} threads" if threads else "CPU"


def notes(kb: KnowledgeBase, report: Report) -> list[str]:
    found = list(report.notes)
    for name, newest in report.newer.items():
        version = report.host.packages.get(name, "")
        found.insert(
            0,
            f"{phrases.title(kb, name)} {version} is newer than {newest}, the newest release on "
            f"record: the advice below is the one for {newest}.",
        )
    if report.host.gpu_note:
        found.append(report.host.gpu_note)
    if report.device == "cpu" and not report.settings_only:
        here = report.host.device != "cpu" or report.host.gpus
        found.append(
            "No GPU was used: these are probes on the CPU."
            if here
            else "No GPU here: the CPU was probed."
        )
    return found


def _settings(page: Page, report: Report) -> None:
    seen = [check for check in report.settings if check.status != "unseen"]
    unseen = [check.name for check in report.settings if check.status == "unseen"]
    if not report.settings:
        return
    page.line(Span("Settings", "head"))
    for check in sorted(seen, key=lambda check: check.status not in FINDINGS):
        _setting(page, check)
    if unseen:
        are, them = ("is", "it") if len(unseen) == 1 else ("are", "them")
        where = f"{are} set inside your program, where d9m cannot see {them}"
        page.marked(Span("–"), "", f"{'; '.join(unseen)} {where}")
    page.gap()


def _setting(page: Page, check: SettingCheck) -> None:
    name = check.name if check.found is None else f"{check.name}={check.found}"
    said = {
        "ok": "" if check.found is not None else "not set, as required",
        "missing": "not set",
        "wrong": f"must be {check.expected}" if check.expected else "",
        "forbidden": "must not be set",
        "too-late": "too late for the process that runs",
        "no-effect": f"no effect: {check.next}",
        "unseen": "",
    }[check.status]
    sign = (
        ops.BAD
        if check.status in FINDINGS
        else ops.DOUBT
        if check.status == "no-effect"
        else ops.GOOD
    )
    page.marked(sign, "", f"{name}  {said}".rstrip())
    if check.status in FINDINGS and check.next:
        late = (
            " before Python starts"
            if check.status in ("missing", "wrong") and check.expected
            else ""
        )
        page.line(f"      → {check.next}{late}")


def _against(page: Page, report: Report) -> None:
    if report.against is None:
        return
    page.line(Span("Reference", "head"))
    for sign, text in ops.against(report.against):
        page.marked(sign, "", text)
    page.gap()


def _ranks(page: Page, report: Report) -> None:
    if not report.ranks:
        return
    page.line(Span("Ranks", "head"))
    if not report.odd:
        page.marked(
            ops.GOOD, "", f"{len(report.ranks)} ranks: devices of one kind gave the same results"
        )
    for text in ops.odd_devices(report):
        page.marked(ops.BAD, "", text)
    page.gap()
