"""Symptoms: short enough to be read in a list, and nothing said twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9m.authoring.lint.index import RecordIndex
from d9m.authoring.lint.rule import Finding, rule
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import records

MOST_PHRASES, MOST_SENTENCES = 8, 3

_SENTENCE_END = re.compile(r"[.!?](?=\s+[A-Z])")


@rule(
    "symptom-form",
    "Symptom that does not fit its place",
    """`d9m explain` prints the question of a symptom in a list, and its diagnosis above it. The
    question is one question, the diagnosis has at most three sentences, the phrases are at most
    eight, and there is some advice.""",
)
def symptom_form(index: RecordIndex) -> Iterator[Finding]:
    for at, path, symptom in index.parts(records.Symptom):
        if not symptom.question.endswith("?") or symptom.question.count("?") > 1:
            yield Finding(at, (*path, "question"), "not one question", symptom.question)
        sentences = len(_SENTENCE_END.findall(" ".join(symptom.diagnosis.split()))) + 1
        if sentences > MOST_SENTENCES:
            tip = "move the rest to the advice"
            yield Finding(
                at, (*path, "diagnosis"), f"has {sentences} sentences", allowed="3", tip=tip
            )
        if not 1 <= len(symptom.phrases) <= MOST_PHRASES:
            count = len(symptom.phrases)
            yield Finding(at, (*path, "phrases"), f"{count} phrases", allowed="1 to 8")
        if not symptom.advice:
            yield Finding(at, (*path, "advice"), "no advice", tip="say what to do, for whom")


@rule(
    "symptom-repeats",
    "Paragraph in two symptoms",
    """A paragraph that two symptoms share is corrected in one of them and stays wrong in the other,
    and a search finds both. It belongs to one; the other names it: `d9m show symptoms/NAME`.""",
)
def symptom_repeats(index: RecordIndex) -> Iterator[Finding]:
    first: dict[str, Loaded] = {}
    for at, path, symptom in index.parts(records.Symptom):
        for place, paragraph in _paragraphs(symptom):
            other = first.setdefault(paragraph, at)
            if other is not at:
                message = f"also in {other.file}"
                yield Finding(at, (*path, *place), message, tip=f"d9m show symptoms/{other.id}")


def _paragraphs(symptom: records.Symptom) -> Iterator[tuple[Path, str]]:
    """Each paragraph and item that is prose, with its field."""
    yield ("diagnosis",), " ".join(symptom.diagnosis.split())
    for name, text in symptom.advice.items():
        for part in re.split(
            r"\n\s*\n|\n(?=- )", re.sub(r"```.*?```", "\n\n", text, flags=re.DOTALL)
        ):
            words = " ".join(part.split())
            if len(words) > SHORTEST:
                yield ("advice", name), words


SHORTEST = 80
"""Characters of a paragraph: what is shorter leads over to code or to another page."""


RULES = (symptom_form, symptom_repeats)
