"""A known message that is found in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from d9m.browse.show import SourceHistory, source_history
from d9m.kb.store import KnowledgeBase
from d9m.model import conditions
from d9m.model.advice import Citation
from d9m.model.records import ErrorRecord, ErrorText
from d9m.model.when import Clause, clauses
from d9m.resolve.answers import cite

Printed: TypeAlias = Literal["here", "older", "newer", "others"]


def paragraphs(advice: str) -> list[str]:
    """Return the paragraphs of an advice, each as one line."""
    return [" ".join(part.split()) for part in advice.split("\n") if part.strip()]


class Explanation(msgspec.Struct, frozen=True):
    """One known text that was found."""

    id: str
    kind: str
    title: str
    text: str
    """The wording that matched, with ``{…}`` where it varies."""
    parts: dict[str, str]
    """The texts in place of the variable parts."""
    line: int
    releases: list[Clause]
    """Releases that word it so."""
    advice: str
    ops: list[str]
    history: list[SourceHistory]
    evidence: list[Citation]
    printed: Printed = "here"
    """Whether what was named can print it: `here`; if not, by `older` releases, `newer` ones, or
    `others`.
    """


def printing_clauses(texts: Iterable[ErrorText]) -> Iterator[Clause]:
    """Every clause under which one of some wordings is printed."""
    for wording in texts:
        yield from clauses(wording.when)


def explanation(
    kb: KnowledgeBase,
    id_: str,
    error: ErrorRecord,
    wording: ErrorText,
    fitting: list[ErrorText],
    parts: dict[str, str],
    line: int,
) -> Explanation:
    """A record as it explains a text, by the wordings that the text can be."""
    return Explanation(
        id=id_,
        kind=error.kind,
        title=error.title,
        text=wording.text,
        parts=parts,
        line=line,
        releases=[clause for clause in conditions.united(printing_clauses(fitting)) if clause],
        advice=error.advice,
        ops=list(error.ops),
        history=[source_history(kb, source) for source in error.sources],
        evidence=[cite(kb, evidence) for evidence in error.evidence],
    )
