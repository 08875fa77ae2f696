"""What to know about the ops and settings of an answer, most useful first."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.model.advice import Advice, CautionAnswer, OpAnswer, SourceAnswer
from d9m.model.records import EvidenceKind
from d9m.render import phrases
from d9m.render.advice.op_names import short_names
from d9m.render.interface import Answer
from d9m.render.page import Page, Span

MOST_NOTES = 5
"""Notes that a tired reader still reads; `--all` shows the rest."""

SAYS: dict[EvidenceKind, str] = {
    "assumed": "others assume otherwise",
    "documented": "the docs say otherwise",
    "release-note": "the release notes say otherwise",
    "tested-upstream": "upstream's tests say otherwise",
    "source-read": "the source code says otherwise",
    "binary-read": "the shipped binary says otherwise",
    "measured": "a measured run says otherwise",
}
"""Kind of evidence -> how a note on a disagreement begins."""


def write(page: Page, answer: Answer) -> None:
    """At most five notes, unless `--all`."""
    found = list(dict.fromkeys(_notes(answer)))
    most = len(found) if answer.everything else MOST_NOTES
    if not found:
        return
    page.line(Span("Notes", "head"))
    for note in found[:most]:
        page.paragraph(note, "  • ", "    ")
    if len(found) > most:
        page.paragraph(f"{len(found) - most} more: --all", "    ", style="dim")
    page.gap()


def _notes(answer: Answer) -> Iterator[str]:
    """Of the ops that were asked for, what their settings cost, of the settings, of the rest."""
    advice = answer.advice
    own = {source.id for op in advice.ops for source in op.sources}
    labels = {solution.id: solution for solution in advice.solutions}
    cautions = [caution for caution in advice.cautions if caution.kind == "caution"]
    yield from (_caution(answer, each) for each in cautions if each.id in own)
    yield from _costs(advice)
    yield from _disagreements(answer)
    yield from (_caution(answer, each) for each in cautions if each.id in labels)
    others = [each for each in cautions if each.id not in own and each.id not in labels]
    yield from (_caution(answer, each) for each in others)
    yield from (_caution(answer, each) for each in advice.cautions if each.kind == "note")


def _caution(answer: Answer, caution: CautionAnswer) -> str:
    where = phrases.condition(answer.kb, caution.when)
    text = caution.text if not where else f"{where[0].upper()}{where[1:]}: {caution.text}"
    subject = _subject(answer, caution.id)
    return f"{subject}: {text}" if subject else text


def _subject(answer: Answer, id_: str) -> str:
    """The op or solution that a note is about, by the name that its reader knows."""
    for solution in answer.advice.solutions:
        if solution.id == id_:
            return solution.title
    asked = answer.advice.ops
    ops = [op for op in asked if any(source.id == id_ for source in op.sources)]
    if len(asked) > 1 and len(ops) == 1 and ops[0].query != "*":
        return short_names(asked)[ops[0].query]
    return ""


def _costs(advice: Advice) -> Iterator[str]:
    for source in _sources(advice):
        for cost in source.costs:
            factor = (
                f" (time × {cost.factor})" if cost.factor and cost.factor not in cost.text else ""
            )
            yield f"{cost.text.rstrip('.')}{factor}."


def _disagreements(answer: Answer) -> Iterator[str]:
    names = short_names(answer.advice.ops)
    for op in answer.advice.ops:
        for source in op.sources:
            note = disagreement(source)
            if note:
                yield f"{_named(op, source, names)}: {note}."


def _named(op: OpAnswer, source: SourceAnswer, names: dict[str, str]) -> str:
    return source.title if op.query == "*" else names[op.query]


def disagreement(source: SourceAnswer) -> str | None:
    """What a source of ours says that the record does not follow, with who says it."""
    others = [each for each in source.evidence if not each.follows and each.note]
    if not others:
        return None
    return f"{SAYS[others[0].kind]}: {(others[0].note or '').rstrip('.')}"


def _sources(advice: Advice) -> list[SourceAnswer]:
    return list({source.id: source for op in advice.ops for source in op.sources}.values())
