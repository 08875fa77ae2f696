"""Measured runs, and what rests on them."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.lint.index import RecordIndex
from d9m.authoring.lint.rule import Finding, rule
from d9m.model import records
from d9m.model.runs import Run, Seen


@rule(
    "run-not-measured",
    "Run cited for what it did not measure",
    """A measured run is the strongest evidence, so it is cited only for what it shows: the kind is
    `measured`, and the run holds an observation of the very source that cites it, on which two or
    more repeats were compared.""",
)
def run_not_measured(index: RecordIndex) -> Iterator[Finding]:
    for at, path, evidence in index.parts(records.Evidence):
        cited = index.kinds["runs"].get(evidence.run or "")
        if cited is None:
            continue
        if evidence.kind != "measured":
            yield Finding(
                at, (*path, "kind"), "a run is measured, nothing less", evidence.kind, "measured"
            )
        if at.kind == "sources" and at.id not in _observed(cited.record):
            tip = f"it observed {', '.join(sorted(_observed(cited.record)))}"
            yield Finding(
                at, (*path, "run"), "the run did not observe this source", cited.id, tip=tip
            )


@rule(
    "run-in-doubt",
    "Run cited that was cut short, or that made none of the settings",
    """A check that was interrupted knows some arms only in part, and its verdicts are not those of
    a whole run. And a run that made none of the settings which the record names says nothing about
    them, whatever its advised arm did: an op that raises under a switch does not raise where the
    switch was never turned on.""",
)
def run_in_doubt(index: RecordIndex) -> Iterator[Finding]:
    for at, path, evidence in index.parts(records.Evidence):
        cited = index.kinds["runs"].get(evidence.run or "")
        if cited is None or at.kind != "sources":
            continue
        run: Run = cited.record
        if run.interrupted:
            yield Finding(
                at,
                (*path, "run"),
                "the run was interrupted",
                cited.id,
                tip="cite a run that came to its end",
            )
        named = _named_settings(index, at.record)
        made = " ".join(run.settings)
        if named and _advised(run, at.id) and not any(name in made for name in named):
            tip = f"it would have to set {', '.join(sorted(named))}"
            yield Finding(
                at,
                (*path, "run"),
                "the run made none of the settings of this record",
                cited.id,
                tip=tip,
            )


def _named_settings(index: RecordIndex, source: records.Source) -> set[str]:
    """Return the settings that solutions in the record turn, here or there."""
    found: set[str] = set()
    for label in source.labels() & index.labels.keys():
        found.update(turn.name for turn in index.labels[label].record.settings)
    return found


def _advised(run: Run, source: str) -> bool:
    """Whether the advised arm says something of a source."""
    for observation in run.observations:
        arm = observation.arms.get("advised")
        if observation.source == source and arm is not None and _says_something(arm):
            return True
    return False


def _observed(run: Run) -> set[str]:
    found: set[str] = set()
    for observation in run.observations:
        if observation.source is not None and any(map(_says_something, observation.arms.values())):
            found.add(observation.source)
    return found


def _says_something(arm: Seen) -> bool:
    return arm.repeats > 1 or bool(arm.raised)


RULES = (run_not_measured, run_in_doubt)
