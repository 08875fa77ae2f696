"""Whether rounding explains the difference of two runs, as text."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.render.page import Page, Style
from d9m.trace.findings import ExactCall, Findings, SettingDifference, Tolerance
from d9m.trace.report import sentences, verdict

MOST = 12
"""Modules that are shown."""


def render(found: Findings, judged: Tolerance, width: int) -> Page:
    page = Page(width)
    if judged.packages:
        page.paragraph(f"The packages differ: {_settings(judged.packages)}.", style="head")
    styles: dict[str, Style] = {"above": "bad", "unknown": "doubt"}
    style = styles.get(judged.verdict, "good")
    page.paragraph(_headline(found, judged), style=style)
    page.gap()
    if judged.first is not None:
        if judged.first.op:
            page.paragraph(sentences.call(judged.first), "  op       ")
        page.paragraph(sentences.place(judged.first), "  where    ")
        explained = f"; rounding explains {judged.explained:.1e}" if judged.explained else ""
        page.paragraph(f"{judged.relative:.1e}{explained}", "  size     ")
    for call in judged.exact:
        page.paragraph(_exact(call), "  float64  ")
    page.gap()
    others = [setting for setting in found.settings if setting not in judged.packages]
    if others:
        page.paragraph(f"The settings differ: {_settings(others)}.")
        page.gap()
    sizes = [[each.module, f"{each.norms:.1e}", f"{each.samples:.1e}"] for each in judged.modules]
    if sizes:
        page.table(["largest relative difference", "norms", "samples"], sizes[:MOST], shrink=[0])
    if len(sizes) > MOST:
        page.line(f"{len(sizes) - MOST} more modules: --format json")
    return page


def _headline(found: Findings, judged: Tolerance) -> str:
    first = judged.first
    if first is not None:
        said = sentences.sentence(found, first)
        if first.op is None:
            said = "Values differ that no recorded op computed."
        elif first.argument and first.kind == "structure":
            said = f"Only run {first.a} computes in {first.argument}."
        elif first.a and first.kind in ("op", "structure"):
            op = sentences.plain(first.op)
            counts = f"{first.a} elements in run A, {first.b} in run B"
            said = f"{op} returned NaN or infinite values, or what follows it did: {counts}."
        elif first.kind == "op":
            said = f"{sentences.plain(first.op)} differs by more than rounding explains."
        return f"Above rounding since step {first.step}. {said}"
    if judged.verdict == "unknown":
        why = [f"{judged.why}."] if judged.why else []
        return " ".join(["Not known:", *why, *verdict.gaps(found, lambda _gap: True)])
    extent = f"{verdict.steps(found)} of {verdict.processes(found)}"
    if judged.verdict == "equal":
        return f"Bitwise identical: {extent}."
    return f"Within rounding: {extent}. No op differs by more than rounding explains."


def _exact(call: ExactCall) -> str:
    told = [
        f"run {run} {f'is {one:.1e} from it' if isinstance(one, float) else f'not computed: {one}'}"
        for run, one in (("A", call.a), ("B", call.b))
        if one is not None
    ]
    if isinstance(call.a, float) and isinstance(call.b, float):
        further = max(call.a, call.b) > 4 * min(call.a, call.b)
        told.append(f"run {'A' if call.a > call.b else 'B'} is further" if further else "as close")
    return f"{sentences.plain(call.op)}: {', '.join(told)}"


def _settings(settings: Sequence[SettingDifference]) -> str:
    return ", ".join(map(sentences.both_values, settings))
