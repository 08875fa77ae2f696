"""The report of `d9m check` as JUnit XML, which every CI server reads."""

from __future__ import annotations

from d9m.check.report import text, verdict
from d9m.check.report.labels import record_says
from d9m.check.result import ProbeResult, Report, finding
from d9m.check.settings import FINDINGS, SettingCheck
from d9m.kb.store import KnowledgeBase
from d9m.render.junit import Suite, add_output, fail, skip


def render(kb: KnowledgeBase, report: Report) -> str:
    """Return a case for each setting, probe and odd rank: findings fail, unknowns are skipped."""
    suite = Suite("d9m check", report.seconds)
    for setting in report.settings:
        _setting(suite, setting)
    for probe in report.probes:
        _probe(suite, probe)
    for odd in report.odd:
        case = suite.case("ranks", f"{odd.probe} {odd.dtype} {odd.arm}")
        fail(case, f"differs from devices of its kind: rank {_listed(odd.ranks)}")
    return suite.text([verdict.sentences(report), *text.notes(kb, report)])


def _setting(suite: Suite, setting: SettingCheck) -> None:
    case = suite.case("settings", setting.name)
    said = f"{setting.status}: needed {setting.expected or '-'}, found {setting.found or '-'}"
    if setting.status in FINDINGS:
        fail(case, said, setting.next)
    elif setting.status == "unseen":
        skip(case, setting.next)


def _probe(suite: Suite, probe: ProbeResult) -> None:
    label = f"{probe.id} {probe.direction} {probe.dtype} {probe.device}"
    own = [arm for arm in probe.arms.values() if arm.same_as is None]
    seconds = sum((arm.seconds or 0.0) * arm.repeats for arm in own)
    case = suite.case(f"probes.{probe.id.partition('/')[0]}", label, time=f"{seconds:.3f}")
    said = f"{probe.verdict}; {record_says(probe)}"
    if finding(probe):
        fail(case, said, probe.reason)
    elif probe.verdict == "inconclusive":
        skip(case, probe.reason)
    add_output(case, said)


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
