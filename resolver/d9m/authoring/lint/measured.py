"""Measured runs, and what rests on them."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.lint.index import Index
from d9m.authoring.lint.rule import Finding, rule
from d9m.model import records
from d9m.model.runs import Run


@rule(
    "run-not-measured",
    "Run cited for what it did not measure",
    """A measured run is the strongest evidence, so it is cited only for what it shows: the kind is `measured`, and the
    run holds an observation of the very source that cites it, on which two or more repeats were compared.""",
)
def run_not_measured(index: Index) -> Iterator[Finding]:
    for at, path, evidence in index.parts(records.Evidence):
        cited = index.kinds["runs"].get(evidence.run or "")
        if cited is None:
            continue
        if evidence.kind != "measured":
            yield Finding(at, (*path, "kind"), "a run is measured, nothing less", evidence.kind, "measured")
        if at.kind == "sources" and at.id not in _observed(cited.record):
            tip = f"it observed {', '.join(sorted(_observed(cited.record)))}"
            yield Finding(at, (*path, "run"), "the run did not observe this source", cited.id, tip=tip)


def _observed(run: Run) -> set[str]:
    return {
        each.source
        for each in run.observations
        if each.source is not None and any(arm.repeats > 1 or arm.raised for arm in each.arms.values())
    }


RULES = (run_not_measured,)
