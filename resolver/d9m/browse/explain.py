"""Recognise an error or warning text, in a single line or a whole log, and a symptom in somebody's
own words.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import msgspec

from d9m.about import __version__
from d9m.browse.known_texts import Match, pattern, search
from d9m.browse.show import SourceHistory, source_history
from d9m.browse.similarity import LEAST_LIKE, Vocabulary
from d9m.environment.environment import Environment
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model import conditions
from d9m.model.advice import SCHEMA_VERSION, Told, Tool
from d9m.model.records import Clause, ErrorRecord, ErrorText
from d9m.resolve.answers import told_of


class Explanation(msgspec.Struct, frozen=True):
    """One known text that was found."""

    id: str
    kind: str
    title: str
    text: str
    """The wording that matched, with ``{…}`` where it varies."""
    parts: dict[str, str]
    """What stood where the wording varies."""
    line: int
    releases: list[Clause]
    """Releases that word it so."""
    advice: str
    ops: list[str]
    history: list[SourceHistory]
    evidence: list[Told]


class Explained(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    found: list[Explanation]


def explain(
    kb: KnowledgeBase, text: str | Iterable[str], environment: Environment | None = None
) -> Explained:
    """Every known text in `text`, first come first; else the known symptoms that it tells of.

    A long text comes in blocks, as `log.blocks` makes them. With an environment,
    only what it can word so. Raises UsageError, with the nearest known texts,
    where there is none.
    """
    blocks = iter([text] if isinstance(text, str) else text)
    first = next(blocks, "")
    if not first.strip():
        raise UsageError(
            "no text was given", tip='d9m explain "the error text", or a log on standard input'
        )
    matches = search(kb, itertools.chain([first], blocks), environment)
    found = [_explained(kb, match) for match in matches] or _symptoms(kb, first, environment)
    if not found:
        tip = "what to set, by release and op: d9m advise"
        raise UsageError(
            f"no known text in {quote(first.strip())}", nearest=_nearest(kb, first.strip()), tip=tip
        )
    return Explained(SCHEMA_VERSION, Tool(__version__, kb.meta.date), found)


LONGEST_COMPLAINT = 600
"""Characters in which people tell a symptom; a log tells none."""

MOST_SYMPTOMS = 3


def _symptoms(kb: KnowledgeBase, text: str, environment: Environment | None) -> list[Explanation]:
    """The symptoms that a sentence tells of, most alike first: the best one, and those nearly as
    good.
    """
    if len(text.strip()) > LONGEST_COMPLAINT:
        return []
    known = [each for each in _wordings(kb, environment) if each[1].kind == "symptom"]
    ranked = _vocabulary(kb).alike(text, [wording.text for _id, _error, wording in known])
    least = max(LEAST_LIKE, 0.8 * ranked[0][0]) if ranked else LEAST_LIKE
    told: dict[str, Explanation] = {}
    for likeness, place in ranked:
        id_, error, wording = known[place]
        if likeness >= least and id_ not in told:
            told[id_] = _explanation(kb, id_, error, wording, [wording], {}, 1)
    return list(told.values())[:MOST_SYMPTOMS]


def _wordings(
    kb: KnowledgeBase, environment: Environment | None
) -> Iterator[tuple[str, ErrorRecord, ErrorText]]:
    for id_ in kb.keys("errors"):
        error: ErrorRecord = kb.get("errors", id_)
        for wording in error.texts:
            if environment is None or environment.holding(wording.when, assume=False):
                yield id_, error, wording


def _nearest(kb: KnowledgeBase, text: str) -> list[str]:
    """Known texts spelled nearly so, else those that share most words."""
    known = list(dict.fromkeys(wording.text for _id, _error, wording in _wordings(kb, None)))
    return nearest(text, known) or [
        known[place] for _likeness, place in _vocabulary(kb).alike(text, known)[:3]
    ]


def _vocabulary(kb: KnowledgeBase) -> Vocabulary:
    return kb.once("vocabulary", lambda: Vocabulary(kb.get("words", "")))


def _explained(kb: KnowledgeBase, found: Match) -> Explanation:
    error, text = found.wording.error, found.text.lower()
    wordings = [wording for wording in error.texts if pattern(wording.text).search(text)]
    return _explanation(kb, found.id, error, found.wording.text, wordings, found.parts, found.line)


def _explanation(
    kb: KnowledgeBase,
    id_: str,
    error: ErrorRecord,
    wording: ErrorText,
    wordings: list[ErrorText],
    parts: dict[str, str],
    line: int,
) -> Explanation:
    whens = [each.when if isinstance(each.when, list) else [each.when] for each in wordings]
    return Explanation(
        id=id_,
        kind=error.kind,
        title=error.title,
        text=wording.text,
        parts=parts,
        line=line,
        releases=[
            each
            for each in conditions.united(clause for group in whens for clause in group)
            if each
        ],
        advice=error.advice,
        ops=list(error.ops),
        history=[source_history(kb, each) for each in error.sources],
        evidence=[told_of(kb, each) for each in error.evidence],
    )
