"""What removes one difference, by name: a reader who stops at its line knows what to set."""

from __future__ import annotations

from d9m.model.advice import SourceAnswer
from d9m.model.settings import Step
from d9m.render import phrases
from d9m.render.interface import Answer

MOST_NAMED = 2
"""Settings that a line names; of more it points to the list below."""

LONGEST = 60
"""Characters of one setting that a line still holds."""


def of_source(answer: Answer, source: SourceAnswer) -> str:
    """``HOROVOD_FUSION_THRESHOLD=0``; ``these settings`` where they are many or long."""
    named: dict[str, None] = {}
    for label in source.solutions:
        steps = [step for step in answer.advice.steps if label in step.solutions]
        turned = [turn.name for turn in answer.kb.solution(label)[1].settings]
        for step in sorted(steps, key=lambda step: turned.index(step.name)):
            if step.kind != "avoid":
                named.update(dict.fromkeys(_written(step)))
    if not 0 < len(named) <= MOST_NAMED or any(len(setting) > LONGEST for setting in named):
        return "these settings"
    return phrases.join(list(named))


def _written(step: Step) -> list[str]:
    """A setting in the words of the list below, without what a shell or a file adds."""
    if step.kind == "append":
        return step.accepts
    if step.kind == "unset":
        return [f"unset {step.name}"]
    return [step.text or (f"{step.name}={step.value}" if step.value else step.name)]
