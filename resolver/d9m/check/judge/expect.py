"""The records' claim about each probe here, and whether the machine agrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from d9m.api import advise
from d9m.check.judge.observe import ArmResult, varies_by_default
from d9m.check.judge.verdict import ProbeVerdict, out_of_memory
from d9m.check.plan.catalogue import Probe
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import OpAnswer
from d9m.model.records import Default, Outcome

Agreement = Literal["agrees", "contradicts", "fills", "silent"]
"""``fills``: something was seen where no record says anything. ``silent``: nothing was seen that
says anything.
"""


class Expected(msgspec.Struct, frozen=True):
    outcome: Outcome
    default: Default


def expectations(kb: KnowledgeBase, asked: Setup, probes: Sequence[Probe]) -> dict[str, Expected]:
    """Probe id -> the record's claim in this environment. An op that this release lacks is left
    out.
    """
    items = list(dict.fromkeys(probe.item for probe in probes))
    answers: dict[str, OpAnswer | None]
    try:
        answers = dict(zip(items, advise(kb, asked, items).ops))
    except UsageError:
        answers = {item: _alone(kb, asked, item) for item in items}
    found: dict[str, Expected] = {}
    for probe in probes:
        answer = answers.get(probe.item)
        if answer is not None:
            found[probe.id] = _claim(probe, answer)
    return found


def _alone(kb: KnowledgeBase, asked: Setup, item: str) -> OpAnswer | None:
    try:
        return advise(kb, asked, [item]).ops[0]
    except UsageError:
        return None


def _claim(probe: Probe, answer: OpAnswer) -> Expected:
    """Of the probe's own record, where it applies here; else of the op as a whole."""
    for source in answer.sources:
        if source.id == probe.source:
            return Expected(source.outcome, source.default)
    return Expected(answer.outcome, answer.default)


def agreement(
    expected: Expected | None, arms: Mapping[str, ArmResult], verdict: ProbeVerdict
) -> Agreement:
    """Only a difference, an error or a wrong value speaks; silence never overturns a record.

    Running through is as positive as an error where the record says that it raises.
    """
    if not verdict.observed or expected is None:
        return "silent"
    advised, varies = arms.get("advised"), varies_by_default(arms)
    raised = (
        advised is not None and advised.raised is not None and not out_of_memory(advised.raised)
    )
    unfixed = verdict.name == "value-mismatch" or (advised is not None and advised.varies)
    if expected.outcome in ("no-known-source", "depends", "unknown"):
        return "fills" if varies or raised or unfixed else "silent"
    overturned = {
        "deterministic": varies or raised or unfixed,
        "solved": raised or unfixed,
        "raises": advised is not None and not advised.failed and not raised,
        "unsolved": raised,
    }[expected.outcome]
    if overturned or (varies and expected.default == "deterministic"):
        return "contradicts"
    return "agrees"
