"""Lists in the docstring of the switch: is each op known, met by a source, and judged as the list says?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.audit.shipped import Difference, Known, Shipped
from d9m.kb.tables import KnowledgeBase, Met, OpEntry
from d9m.query import plain
from d9m.records import Outcome, Step, Unless
from d9m.versions import key

EXPECTED: dict[str, frozenset[Outcome]] = {
    "deterministic": frozenset({"deterministic", "solved"}),
    "throws": frozenset({"raises"}),
    "throws-cublas": frozenset({"raises", "solved"}),
}
"""Section of a list -> outcomes, one of which some source of the op must have."""


def differences(known: Known, shipped: Shipped) -> Iterator[Difference]:
    """`line-unknown`, `line-without-source` and `line-disagrees`."""
    found: dict[tuple[str, str, str, str], set[str]] = {}
    for package, releases in shipped.packages.items():
        for version, release in releases.items():
            for section, line in release.lists():
                code, detail = _judged(known.kb, package, version, section, line.op)
                if code:
                    place = (package, code, f"{section}:{line.op}", detail)
                    found.setdefault(place, set()).add(version)
    for (package, code, subject, detail), versions in found.items():
        yield Difference(code, subject, shipped.spans(package, versions), f"{package}: {detail}")


def _judged(kb: KnowledgeBase, package: str, version: str, section: str, op: str) -> tuple[str, str]:
    """Code and detail of a difference; empty where records and list agree."""
    entry = _entry(kb, package, op)
    if entry is None:
        return "line-unknown", "no name of the catalogue"
    met = [each for reached in entry.reaches for each in kb.met_by(package, reached.op)]
    if not met:
        return "line-without-source", "no source is met"
    expected = EXPECTED.get(section, frozenset())
    outcomes = {outcome for each in met for outcome in _outcomes(each, package, version)}
    if expected and not expected & outcomes:
        return "line-disagrees", f"records say {', '.join(sorted(outcomes)) or 'nothing'}"
    return "", ""


def _entry(kb: KnowledgeBase, package: str, op: str) -> OpEntry | None:
    prefixes = kb.meta.prefixes.get(package, {})
    spellings = [op, *(full + op[len(short) :] for short, full in prefixes.items() if op.startswith(short))]
    for spelling in spellings:
        names: tuple[str, ...] = kb.get("names", f"{package}:{plain(spelling)}") or ()
        if names:
            return kb.get("ops", f"{package}:{names[0]}")
    return None


def _outcomes(met: Met, package: str, version: str) -> Iterator[Outcome]:
    """What a source says of a release, whatever its other conditions."""
    steps = [step for step in met.source.timeline.get(package, []) if key(step.from_) <= key(version)]
    rules: list[Step | Unless] = [*steps[-1:], *(steps[-1].unless if steps else [])]
    for rule in rules:
        yield rule.outcome or "solved"
