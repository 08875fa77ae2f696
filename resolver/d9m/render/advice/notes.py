"""Notes about the ops and settings of an answer, most useful first."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.model.advice import CautionAnswer, SourceAnswer
from d9m.model.when import Clause
from d9m.render import phrases
from d9m.render.advice.op_names import short_names
from d9m.render.interface import Answer
from d9m.render.page import Page, Span
from d9m.render.words import EVIDENCE

HEAVY = 1.5
"""Times as long: a cost that decides whether to make a setting at all."""

LONGEST_SUBJECT = 60
"""Characters of the name of a setting with which several notes begin."""

MOST_NAMESAKES = 3
"""Other ops of a bare name that a note lists; JSON has all."""


def write(page: Page, answer: Answer, most: int) -> None:
    """Write the notes that change what the reader does, and with `--all` the rest."""
    shown = _important(answer)[:most]
    if answer.everything:
        shown = list(dict.fromkeys([*_important(answer), *_further(answer)]))
    if shown:
        page.line(Span("Notes", "head"))
    for note in shown:
        page.paragraph(note, "  • ", "    ")
    page.gap()


def of_sources(answer: Answer) -> list[str]:
    """Return what to know of the ops and packages of the question, without costs and settings."""
    own = answer.advice.sources().keys()
    return [_note(answer, each) for each in _cautions(answer) if each.id in own]


def asked_about(answer: Answer) -> dict[str, SourceAnswer]:
    """Return the causes that the question is about: without named ops those of packages, and the
    ops of a framework are only counted, except with `--all`.
    """
    asked = answer.advice.ops
    if not answer.named_ops and not answer.everything:
        asked = [op for op in asked if op.query == "*"]
    return {source.id: source for op in asked for source in op.sources}


def _important(answer: Answer) -> list[str]:
    """Return heavy costs, other ops of the same name, and cautions about what is asked."""
    asked = asked_about(answer)
    cautions = [each for each in _cautions(answer) if each.id in asked]
    heavy = list(_costs(answer, HEAVY))
    if answer.advice.conflicts:
        heavy.clear()  # each choice has its price
    notes = [
        _note(answer, each)
        for each in [*cautions, *_of_the_environment(answer)]
        if _undecided(answer, each) is not None
    ]
    return list(dict.fromkeys([*heavy, *_namesakes(answer), *notes]))


def _further(answer: Answer) -> Iterator[str]:
    """Return costs, disagreeing sources, and what to know of the settings."""
    labels = {solution.id for solution in answer.advice.solutions}
    yield from _costs(answer)
    yield from _disagreements(answer)
    for caution in answer.advice.cautions:
        if caution.id in labels or (caution.kind == "note" and caution.id in asked_about(answer)):
            yield _note(answer, caution)


def _cautions(answer: Answer) -> list[CautionAnswer]:
    """Return cautions, those first that certainly apply."""
    found = [caution for caution in answer.advice.cautions if caution.kind == "caution"]
    return sorted(found, key=lambda caution: bool(caution.when))


def _of_the_environment(answer: Answer) -> Iterator[CautionAnswer]:
    """Return what every op needs on this kind of device, and under a fact that the user gave."""
    here = answer.advice.environment
    decisive = {"device", *here.facts.keys() - set(here.assumed) - {"training"}}
    for caution in answer.advice.cautions:
        ingredient = answer.kb.ingredients.get(caution.id)
        if ingredient is not None and decisive & set(ingredient.condition.cuts):
            yield caution


def _namesakes(answer: Answer) -> Iterator[str]:
    """Return what a bare name could mean as well."""
    for op in answer.advice.ops:
        if op.could_mean and op.names:
            others = phrases.join(op.could_mean[:MOST_NAMESAKES], "or")
            yield f"{op.query} is taken as {op.names[0]}. If you mean {others}, name it in full."


def _undecided(answer: Answer, caution: CautionAnswer) -> Clause | None:
    """Return the conditions of a note without those that are assumed; None where it contradicts
    an assumption.
    """
    here = answer.advice.environment
    left: Clause = {}
    for name, value in caution.when.items():
        if name not in here.assumed or name not in here.facts:
            left[name] = value
        elif value != here.facts[name]:
            return None
    return left


def _note(answer: Answer, caution: CautionAnswer) -> str:
    undecided = _undecided(answer, caution)
    where = phrases.condition(answer.kb, caution.when if undecided is None else undecided)
    return _about(_subject(answer, caution.id), caution.text, where)


def _about(subject: str, text: str, where: str = "") -> str:
    """Return a note with its subject and condition in front. No note begins with "It"."""
    if subject and text.startswith("It "):
        text = f"{subject} {text.removeprefix('It ')}"
        return f"{where[0].upper()}{where[1:]}, {text}" if where else text
    parts = [subject, f"{where[0].upper()}{where[1:]}" if where else "", text]
    return ": ".join(part for part in parts if part)


def _subject(answer: Answer, id_: str) -> str:
    """Return the op or setting that a note is about, by the name that its reader knows."""
    for solution in answer.advice.solutions:
        if solution.id == id_:
            is_short = len(solution.title) <= LONGEST_SUBJECT
            is_only = len(answer.advice.solutions) == 1
            return solution.title if is_short or not is_only else "These settings"
    asked = answer.advice.ops
    ops = [op for op in asked if any(source.id == id_ for source in op.sources)]
    if len(asked) > 1 and len(ops) == 1 and ops[0].query != "*":
        return short_names(answer.kb, asked)[ops[0].query]
    return ""


def _costs(answer: Answer, least: float = 0) -> Iterator[str]:
    """Return what the ops and the settings cost, at least a number of times as long; first what
    was measured.
    """
    priced = [*asked_about(answer).values(), *answer.advice.solutions]
    costs = [(each, cost) for each in priced for cost in each.costs]
    for each, cost in sorted(costs, key=lambda pair: pair[1].factor is None):
        if float(cost.factor or 0) >= least:
            yield _about(_subject(answer, each.id), phrases.price(cost.text, cost.factor))


def _disagreements(answer: Answer) -> Iterator[str]:
    """Return what sources say that the record does not follow, with who says it."""
    names = short_names(answer.kb, answer.advice.ops)
    asked = asked_about(answer)
    for op in answer.advice.ops:
        for source in op.sources:
            others = [told for told in source.evidence if not told.follows and told.note]
            if others and source.id in asked:
                who = EVIDENCE[others[0].kind].disagrees
                subject = f'"{source.title}"' if op.query == "*" else names[op.query]
                about = f" on {subject}" if len(asked) > 1 or op.query != "*" else ""
                yield f"{who}{about}: {(others[0].note or '').rstrip('.')}."
