"""Operators after a compiler: does the answer for a compiled program say so, release by
release?
"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.operators import HARMLESS, find_item, own_kernel
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.environment.environment import Setup, describe
from d9m.model.compiled_facts import CompiledCatalogue, Lowering
from d9m.model.records import Outcome
from d9m.model.wheel_facts import spans
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.resolver import resolve

_ANY_ORDER = ("atomic-add", "split-scan")
"""Effects that let sums differ."""


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`compiled-op-unknown`, `compiled-without-source` and `compiled-gate-disagrees`."""
    for catalogue in shipped.compiled:
        found: dict[tuple[str, str, str], set[str]] = {}
        for release in catalogue.releases:
            for code, lowering, detail in _differing(known, catalogue, release):
                subject = f"{lowering.op}:{lowering.effect}"
                found.setdefault((code, subject, detail), set()).add(release)
        for (code, subject, detail), releases in sorted(found.items()):
            span = spans(catalogue.releases, [each in releases for each in catalogue.releases])
            yield AuditDifference(code, subject, span, f"{catalogue.package}: {detail}")


def _differing(
    known: Known, catalogue: CompiledCatalogue, release: str
) -> Iterator[tuple[str, Lowering, str]]:
    setup = Setup(((catalogue.package, release),), facts=(("compile", "true"),))
    environment = describe(known.kb, setup)
    items: list[OpItem] = []
    asked: list[Lowering] = []
    for lowering in sorted(catalogue.at(release)):
        if lowering.effect in _ANY_ORDER:
            item = find_item(known, environment, own_kernel(lowering.op))
            if item is None:
                yield "compiled-op-unknown", lowering, "no name of the catalogue"
            else:
                items.append(item)
                asked.append(lowering)
    for lowering, answer in zip(asked, resolve(known.kb, environment, items).ops):
        outcomes: set[Outcome] = {answer.outcome}
        for source in answer.sources:
            outcomes.update(possible.outcome for possible in source.possible)
        yield from _judged(lowering, outcomes)


def _judged(lowering: Lowering, outcomes: set[Outcome]) -> Iterator[tuple[str, Lowering, str]]:
    """Without a gate no setting helps; with one, compiled code does what eager code does then."""
    if outcomes <= HARMLESS:
        yield "compiled-without-source", lowering, "compiled, it has no source that varies"
    elif not lowering.gate and not outcomes & {"unsolved", "unknown"}:
        yield "compiled-gate-disagrees", lowering, "solved, and no switch is asked"
    elif lowering.gate and not outcomes & {"solved", "raises", "unknown"}:
        yield "compiled-gate-disagrees", lowering, "unsolved, and a switch is asked"
