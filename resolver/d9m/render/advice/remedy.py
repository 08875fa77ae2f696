"""The settings that fix one cause, by name, for the line of an op."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.model.advice import OpAnswer, SourceAnswer
from d9m.model.settings import Step
from d9m.render import phrases
from d9m.render.interface import Answer

MOST_NAMED = 2
"""Settings that a line names; of more it points to the list below."""

LONGEST = 60
"""Characters of one setting that a line still holds."""


def of_source(answer: Answer, source: SourceAnswer) -> str:
    """Return ``HOROVOD_FUSION_THRESHOLD=0``; ``the settings below`` where they are many or long."""
    return of_labels(answer, source.solutions) or "the settings below"


def of_op(answer: Answer, op: OpAnswer) -> str:
    """Return the settings of an op; empty where they are many, or where the choice is open."""
    labels = [label for source in op.sources for label in source.solutions]
    return "" if is_open(answer, labels) else of_labels(answer, labels)


def titles(answer: Answer, op: OpAnswer) -> str:
    """Return the solutions of an op by name: ``torch.use_deterministic_algorithms(True)``; empty
    where they are many or long, or where the choice is open.
    """
    labels = dict.fromkeys(label for source in op.sources for label in source.solutions)
    named = [
        phrases.call_here(answer.kb, each, answer.advice.environment.releases) for each in labels
    ]
    is_short = len(named) <= MOST_NAMED and all(len(name) <= LONGEST for name in named)
    return phrases.join(named) if is_short and not is_open(answer, list(labels)) else ""


def is_open(answer: Answer, labels: Sequence[str]) -> bool:
    """Whether one of these solutions contradicts another, so that there is a choice to make."""
    return any(set(labels).intersection(conflict.between) for conflict in answer.advice.conflicts)


def of_labels(answer: Answer, labels: Sequence[str]) -> str:
    """Return the settings of some solutions, without those that only some programs need."""
    named: dict[str, None] = {}
    for label in dict.fromkeys(labels):
        steps = [step for step in answer.advice.steps if label in step.solutions]
        sure = [step for step in steps if step.when is None] or steps
        order = [each.name for each in answer.kb.solution(label)[1].settings]
        for step in sorted(sure, key=lambda step: order.index(step.name)):
            if step.kind != "avoid":
                named.update(
                    dict.fromkeys(step.accepts if step.kind == "append" else [written(step)])
                )
    if not 0 < len(named) <= MOST_NAMED or any(len(setting) > LONGEST for setting in named):
        return ""
    return phrases.join(list(named))


def written(step: Step) -> str:
    """Return a setting as the list below has it, without what a shell or a file adds."""
    if step.kind == "unset":
        return f"unset {step.name}"
    return step.text or (f"{step.name}={step.value}" if step.value else step.name)
