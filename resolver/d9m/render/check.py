"""The report of `d9m check` for a person at a terminal."""

from __future__ import annotations

from d9m.check.report import Report
from d9m.check.settings import FINDINGS
from d9m.render.page import Page, Span, Style


def render(report: Report) -> Page:
    page = Page()
    findings = [each for each in report.settings if each.status in FINDINGS]
    if findings:
        count = f"{len(findings)} setting{'s' * (len(findings) > 1)} to change"
        page.line(Span("FINDINGS", "bad"), f"  {count}")
    else:
        page.line(Span("SETTINGS AGREE", "good"), "  with the advice, as far as they can be seen from outside")
    _host(page, report)
    page.gap()
    rows = [
        (f"[{each.status}]", each.name, each.expected or "-", each.found or "-", each.next) for each in report.settings
    ]
    if rows:
        page.table(("settings", "", "needed", "found", "next step"), rows, shrink=4)
        page.gap()
    page.paragraph("No op was run: this release of d9m compares settings and has no probes yet. (exit code 4 or 1)")
    return page


def _host(page: Page, report: Report) -> None:
    host = report.host
    for gpu in host.gpus:
        mig = "on" if gpu.mig else "off"
        page.line(f"{gpu.name} (sm_{gpu.compute_capability.replace('.', '')}, driver {gpu.driver}) · MIG {mig}")
    if host.gpu_note:
        style: Style = "dim"
        page.paragraph(host.gpu_note, style=style)
    packages = " · ".join(f"{name} {version}" for name, version in host.packages.items())
    page.paragraph(f"{host.cpu}, {host.threads} threads" + (f" · {packages}" if packages else ""))
    page.line(f"kb {report.d9m.kb_date}")
