"""The settings that fix one cause, by name, for the line of an op."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.model.advice import Advice, OpAnswer, SourceAnswer
from d9m.model.settings import Step
from d9m.render import phrases
from d9m.render.advice.program import module
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


def left_to_set(answer: Answer) -> list[Step]:
    """Return the steps that an answer lists: without what is set already, what a call of the user's
    makes, and seeds where no package in question draws random numbers.
    """
    done, seeds = already_set(answer.advice), has_generator(answer)
    left = [step for step in answer.advice.steps if step.name not in done and not step.covered_by]
    return [step for step in left if seeds or not _is_basic(answer, step)]


def already_set(advice: Advice) -> set[str]:
    """Return the needed settings that are made, each with a value that will do."""
    done = {made.name for made in advice.existing if made.status == "needed"}
    return done.difference(advice.missing)


def has_generator(answer: Answer) -> bool:
    """Whether a package in question draws random numbers: only then seeds matter."""
    kb, packages = answer.kb, answer.advice.environment.packages.keys()
    if any(kb.packages[name].kind not in ("library", "platform") for name in packages):
        return True
    modules = {each for name in packages for each in kb.packages[name].imports}
    for step in answer.advice.steps:
        if not _is_basic(answer, step):
            continue
        imported = {module(line).partition(".")[0] for line in step.imports}
        if imported & modules or any(_is_own(answer, label, step.name) for label in step.solutions):
            return True
    return False


def _is_basic(answer: Answer, step: Step) -> bool:
    """Whether a step belongs to what every program needs, such as seeds."""
    return bool(step.solutions) and all(each in answer.kb.ingredients for each in step.solutions)


def _is_own(answer: Answer, basics: str, name: str) -> bool:
    """Whether a step of the basics is one of a package in question."""
    record, packages = answer.kb.ingredients[basics], answer.advice.environment.packages.keys()
    made = [each for each in record.settings if each.name == name]
    return any(packages & set(each.condition.cuts) for each in [record, *made])
