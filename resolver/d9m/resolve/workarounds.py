"""Settings of workarounds, for what no solution makes deterministic."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from d9m.model.advice import Advice, SourceAnswer
from d9m.model.settings import Step
from d9m.resolve.merge import place


def with_workarounds(advice: Advice, sources: Iterable[SourceAnswer]) -> Advice:
    """An advice with the settings of the first work-around of each source that differs whatever is
    set; without those that are settings of the advice already, or open to choice in it. For runs
    only: of a work-around for another batch or machine its text says how far it goes.
    """
    known = {step.name for step in advice.steps}
    known.update(conflict.name for conflict in advice.conflicts)
    added: dict[str, Step] = {}
    for source in sources:
        if source.outcome != "unsolved" or source.scope != "run":
            continue
        for way in source.workarounds:
            if way.steps:
                added.update((step.name, step) for step in way.steps if step.name not in known)
                break
    if not added:
        return advice
    return msgspec.structs.replace(
        advice, steps=sorted([*advice.steps, *added.values()], key=place)
    )
