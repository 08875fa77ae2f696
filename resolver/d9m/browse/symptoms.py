"""Rank the symptoms on record by how well they fit a complaint."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.kb.symptom_index import SymptomIndex, Tokens
from d9m.model.records import AdviceFor

BEST_PHRASE = 1.5
"""The weight of the best matching phrase beside the whole record."""

OTHER_FRAMEWORK = 0.6
"""The factor for a symptom that has advice for other frameworks only."""

LEAST = 0.5
"""Score from which a symptom is near at all."""

LEAST_GROUPS = 2
"""Groups of words that a text says which is about results that differ, if none is a topic."""

WHOLE = 0.8
"""Share of a phrase that makes a text one about its symptom."""

MARGIN = 1.15
"""How much better than the second the first symptom is where it is sure."""

FAMILIES: dict[str, AdviceFor] = {"torch": "pytorch", "tensorflow": "tensorflow", "jax": "jax"}
"""Framework -> the part of an advice that is for it."""


class Ranked(msgspec.Struct, frozen=True):
    """The symptoms that fit a complaint."""

    ids: list[str]
    """The best first."""
    is_sure: bool
    """Whether the first one fits best with the groups of words and without them, and clearly."""


def rank(
    kb: KnowledgeBase, text: str, families: Collection[AdviceFor], names_setting: bool
) -> Ranked:
    """Return the symptoms that a text about some frameworks can mean; none for a text that is not
    about determinism.
    """
    index = kb.symptom_index.get("") or SymptomIndex()
    tokens = set(kb.once("tokens", lambda: Tokens(kb.word_lists)).of(text))
    groups = {token[1:] for token in tokens if token[0] == "#" and "~" not in token}
    is_on_topic = names_setting or not groups.isdisjoint(kb.word_lists.topics)
    if not (is_on_topic or len(groups) >= LEAST_GROUPS or _has_phrase(index, tokens)):
        return Ranked([], False)
    wanted = {*families, "other"}
    others = {
        place
        for place, advice_for in enumerate(index.advice_for)
        if families and wanted.isdisjoint(advice_for)
    }
    found = _scored(index, tokens, others)
    plain = _scored(index, {token for token in tokens if "#" not in token}, others)
    ranked = sorted(found, key=lambda place: (-found[place], place))
    is_best = bool(plain) and ranked[:1] == [max(plain, key=lambda place: (plain[place], -place))]
    is_sure = is_best and found[ranked[0]] >= MARGIN * max(
        (found[place] for place in ranked[1:2]), default=0
    )
    return Ranked([index.ids[place] for place in ranked], is_sure)


def _has_phrase(index: SymptomIndex, tokens: Collection[str]) -> bool:
    """Whether a text says nearly all of a phrase."""
    return any(
        sum(index.weights[token] for token in phrase.tokens if token in tokens)
        >= WHOLE * phrase.norm**2
        for phrase in index.phrases
    )


def _scored(
    index: SymptomIndex, tokens: Collection[str], others: Collection[int]
) -> dict[int, float]:
    """Place of a symptom in the index -> its score; `others` are for other frameworks."""
    known = {token: index.weights[token] for token in tokens if token in index.weights}
    total = sum(known.values())
    scores: dict[int, float] = defaultdict(float)
    for token in known:
        for place, adds in index.scores[token]:
            scores[place] += adds / total
    best: dict[int, float] = defaultdict(float)
    for phrase in index.phrases:
        fit = sum(known.get(token, 0.0) for token in phrase.tokens)
        if fit:
            fit /= phrase.norm * math.sqrt(total)
            best[phrase.symptom] = max(best[phrase.symptom], fit)
    final = {
        place: score + BEST_PHRASE * best[place] - OTHER_FRAMEWORK * (place in others)
        for place, score in scores.items()
    }
    return {place: score for place, score in final.items() if score >= LEAST}
