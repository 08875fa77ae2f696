"""A page for each symptom, with the advice for each framework in a tab, and the table of all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from d9m.render.browse.symptom import TITLES
from pages import layout, proof
from pages.markdown import Markdown
from pages.places import PageContext

_SHOWN = re.compile(r"`d9m show symptoms/([\w.-]+)`")


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    yield layout.page(
        kb,
        "symptoms/index.md",
        "symptoms.md",
        "Symptoms",
        "What people see when results differ, the question that tells each symptom apart, and what "
        "to do.",
        symptoms=kb.symptoms.items(),
    )
    for id_, symptom in kb.symptoms.items():
        here = PageContext(kb, f"symptoms/{id_}.md")
        yield layout.record_page(
            kb,
            "symptoms",
            id_,
            "symptom.md",
            symptom.title,
            f"{symptom.question} {symptom.diagnosis}",
            symptom=symptom,
            tabs=[
                (TITLES[name], _linked(here, symptom.advice[name]))
                for name in TITLES
                if name in symptom.advice
            ],
            proofs=proof.of(kb, symptom.evidence),
        )


def _linked(here: PageContext, text: str) -> Markdown:
    """The Markdown of a record, in which `d9m show symptoms/NAME` is a link as well."""
    return Markdown(_SHOWN.sub(lambda found: here.link("symptoms", found[1], found[0][1:-1]), text))
