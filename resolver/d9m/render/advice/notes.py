"""What to know about the ops and settings of an answer, most useful first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from d9m.model.advice import Advice, CautionAnswer, SourceAnswer
from d9m.render import phrases
from d9m.render.advice.op_lines import packages_lead
from d9m.render.advice.op_names import short_names, shown_elsewhere
from d9m.render.interface import Answer
from d9m.render.page import Page, Span
from d9m.render.words import EVIDENCE

MOST_NOTES = 5
"""Notes that a tired reader still reads; `--all` shows the rest."""

MOST_FIRST = 2
"""Notes that stand above the settings."""

FEW_OPS = 2
"""Ops of which a note above the settings can speak."""

HEAVY = 1.5
"""Times as long: a cost that decides whether somebody makes a setting at all."""

LONGEST_SUBJECT = 60
"""Characters of the name of a setting with which several notes begin."""

MOST_NAMESAKES = 3
"""Other ops of a bare name that a note lists; JSON has all."""


def write_first(page: Page, answer: Answer) -> None:
    """What may be the point of the question: what to know of one or two ops, and a cost that is
    heavy.
    """
    for note in _first(answer):
        page.paragraph(note, "  • ", "    ")
    page.gap()


def _first(answer: Answer) -> list[str]:
    """Heavy costs, and what to know of one or two ops; of many, or of ops beside packages, a note
    would be about any.
    """
    advice = answer.advice
    ops = [op for op in advice.ops if op.query != "*"]
    judged = [op for op in ops if shown_elsewhere(answer.kb.meta.see, op) is None]
    cautions: list[CautionAnswer] = []
    if answer.named_ops and 0 < len(judged) <= FEW_OPS and not _names_packages(answer):
        own = advice.sources().keys()
        cautions += [caution for caution in advice.cautions if caution.id in own]
        cautions += _of_the_device(answer)
    sure = [caution for caution in cautions if caution.kind == "caution" and not caution.when]
    is_about_some = answer.named_ops or packages_lead(answer)
    priced_there = bool(advice.conflicts)  # each choice has its price
    heavy = _costs(answer, HEAVY) if is_about_some and not priced_there else ()
    return list(dict.fromkeys([*heavy, *(_caution(answer, caution) for caution in sure)]))[
        :MOST_FIRST
    ]


def _names_packages(answer: Answer) -> bool:
    """Whether the answer is about packages besides a framework, too."""
    sources = [source for op in answer.advice.ops if op.query == "*" for source in op.sources]
    homes = {answer.kb.home(source.id) for source in sources}
    return any(answer.kb.packages[home].kind != "framework" for home in homes)


def write(page: Page, answer: Answer) -> None:
    """At most five notes, unless `--all`."""
    first = _first(answer)
    asked = [note for note in dict.fromkeys(_about_the_question(answer)) if note not in first]
    whole = msgspec.structs.replace(answer, everything=True)
    further = dict.fromkeys([*_about_the_question(whole), *_about_the_program(answer)])
    further = [note for note in further if note not in asked and note not in first]
    shown = [*asked, *further] if answer.everything else asked[: MOST_NOTES - len(first)]
    left = len(asked) + len(further) - len(shown)
    if shown:
        page.line(Span("Notes", "head"))
    for note in shown:
        page.paragraph(note, "  • ", "    ")
    if left:
        page.paragraph(
            f"{phrases.plural(left, 'more note')}: --all", "    " if shown else "", style="dim"
        )
    page.gap()


def _about_the_question(answer: Answer) -> Iterator[str]:
    """What to know of the ops and settings of the answer.

    A note of each kind, then a second one of each, and so on: nobody has to read
    ten cautions to find the first cost.
    """
    advice = answer.advice
    own = set(asked_about(answer))
    labels = {solution.id for solution in advice.solutions}
    sure_first = sorted(advice.cautions, key=lambda caution: bool(caution.when))
    cautions = [caution for caution in sure_first if caution.kind == "caution"]
    kinds = (
        list(map(Note, _namesakes(advice))),
        [_note(answer, caution) for caution in cautions if caution.id in own],
        list(map(Note, _costs(answer))),
        list(map(Note, _disagreements(answer))),
        [_note(answer, caution) for caution in cautions if caution.id in labels],
        [_note(answer, note) for note in sure_first if note.kind == "note"],
        [_note(answer, caution) for caution in _of_the_device(answer)],
    )
    for row in itertools.zip_longest(*kinds):
        notes = [note for note in row if note is not None]
        for note in sorted(notes, key=lambda note: note.is_conditional):
            yield note.text


class Note(NamedTuple):
    text: str
    is_conditional: bool = False
    """Whether it is only for some programs."""


def _note(answer: Answer, caution: CautionAnswer) -> Note:
    return Note(_caution(answer, caution), bool(caution.when))


def _of_the_device(answer: Answer) -> Iterator[CautionAnswer]:
    """What every op of this kind of device needs and of others does not."""
    ingredients = answer.kb.ingredients
    for caution in answer.advice.cautions:
        ingredient = ingredients.get(caution.id)
        if ingredient is not None and "device" in ingredient.condition.cuts:
            yield caution


def of_sources(answer: Answer) -> list[str]:
    """What to know of the ops and packages that are asked about, without costs and settings."""
    own = answer.advice.sources().keys()
    cautions = [caution for caution in answer.advice.cautions if caution.id in own]
    sure_first = sorted(cautions, key=lambda caution: bool(caution.when))
    return [_caution(answer, caution) for caution in sure_first if caution.kind == "caution"]


def _namesakes(advice: Advice) -> Iterator[str]:
    """What a bare name could mean as well."""
    for op in advice.ops:
        if op.could_mean and op.names:
            others = phrases.join(op.could_mean[:MOST_NAMESAKES], "or")
            yield f"{op.query} is taken as {op.names[0]}. If you mean {others}, name it in full."


def asked_about(answer: Answer) -> dict[str, SourceAnswer]:
    """The differences that a reader asks about: without named ops those of packages, and the ops of
    a framework are only counted, but with `--all`.
    """
    asked = answer.advice.ops
    if not answer.named_ops and not answer.everything:
        asked = [op for op in asked if op.query == "*"]
    return {source.id: source for op in asked for source in op.sources}


def _about_the_program(answer: Answer) -> Iterator[str]:
    """What to know of the ingredients that every program needs."""
    own = set(answer.advice.sources())
    own.update(solution.id for solution in answer.advice.solutions)
    for caution in answer.advice.cautions:
        if caution.id not in own:
            yield _caution(answer, caution)


def _caution(answer: Answer, caution: CautionAnswer) -> str:
    where = phrases.condition(answer.kb, caution.when)
    text = f"{where[0].upper()}{where[1:]}: {caution.text}" if where else caution.text
    subject = _subject(answer, caution.id)
    return f"{subject}: {text}" if subject else text


def _subject(answer: Answer, id_: str) -> str:
    """The op or solution that a note is about, by the name that its reader knows."""
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
    """What the ops and the settings cost, first what somebody measured; with `least`, what takes
    that many times as long.
    """
    found: list[tuple[bool, str]] = []
    for priced in (*asked_about(answer).values(), *answer.advice.solutions):
        subject = _subject(answer, priced.id)
        for cost in priced.costs:
            if float(cost.factor or 0) < least:
                continue
            text = phrases.price(cost.text, cost.factor)
            found.append((cost.factor is None, f"{subject}: {text}" if subject else text))
    for _is_word_only, text in sorted(found, key=lambda cost: cost[0]):
        yield text


def _disagreements(answer: Answer) -> Iterator[str]:
    """What sources of ours say that the record does not follow, with who says it."""
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
