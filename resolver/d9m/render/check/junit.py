"""The report of `d9m check` as JUnit XML, which every CI server reads."""

from __future__ import annotations

from xml.etree import ElementTree

from d9m.check.report import ProbeResult, Report, finding
from d9m.check.settings import FINDINGS, SettingCheck
from d9m.errors import printable
from d9m.kb.store import KnowledgeBase
from d9m.render.check import text, verdict
from d9m.render.check.labels import record_says


def render(kb: KnowledgeBase, report: Report) -> str:
    """A case for each setting, probe and odd rank. A finding fails, an unknown is skipped."""
    suite = ElementTree.Element("testsuite", name="d9m check", time=f"{report.seconds:g}")
    for setting in report.settings:
        _setting(suite, setting)
    for probe in report.probes:
        _probe(suite, probe)
    for odd in report.odd:
        label = f"{odd.probe} {odd.dtype} {odd.arm}"
        case = ElementTree.SubElement(suite, "testcase", classname="ranks", name=label)
        ElementTree.SubElement(
            case, "failure", message=f"other bits than like devices: rank {_listed(odd.ranks)}"
        )
    cases = list(suite)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    suite.set("errors", "0")
    said = [verdict.sentences(report), *text.notes(kb, report)]
    ElementTree.SubElement(suite, "system-out").text = printable("\n".join(said))
    ElementTree.indent(suite)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        + ElementTree.tostring(suite, encoding="unicode")
        + "\n"
    )


def _setting(suite: ElementTree.Element, setting: SettingCheck) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname="settings", name=setting.name)
    said = f"{setting.status}: needed {setting.expected or '-'}, found {setting.found or '-'}"
    if setting.status in FINDINGS:
        ElementTree.SubElement(case, "failure", message=printable(said)).text = printable(
            setting.next
        )
    elif setting.status == "unseen":
        ElementTree.SubElement(case, "skipped", message=printable(setting.next))


def _probe(suite: ElementTree.Element, probe: ProbeResult) -> None:
    label = f"{probe.id} {probe.direction} {probe.dtype} {probe.device}"
    seconds = sum(
        (arm.seconds or 0.0) * arm.repeats for arm in probe.arms.values() if arm.same_as is None
    )
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=f"probes.{probe.id.partition('/')[0]}",
        name=label,
        time=f"{seconds:.3f}",
    )
    said = f"{probe.verdict}; {record_says(probe)}"
    if finding(probe):
        ElementTree.SubElement(case, "failure", message=printable(said)).text = printable(
            probe.reason
        )
    elif probe.verdict == "inconclusive":
        ElementTree.SubElement(case, "skipped", message=printable(probe.reason))
    ElementTree.SubElement(case, "system-out").text = printable(said)


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
