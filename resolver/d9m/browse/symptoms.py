"""Rank the symptoms on record by how well they fit a complaint."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.kb.symptom_index import SymptomIndex, Tokens
from d9m.model.records import AdviceFor, Symptom

BEST_PHRASE = 1.0
"""What the phrase that fits best counts beside the whole record."""

NAMED, UNNAMED, OTHER_FRAMEWORK = 0.2, 0.1, 0.3
"""What a symptom of a package that a text names gains; what one of other packages or of another
framework loses.
"""

LEAST = 0.5
"""Score from which a symptom is near at all."""

FAMILIES: dict[str, AdviceFor] = {"torch": "pytorch", "tensorflow": "tensorflow", "jax": "jax"}
"""Framework -> the part of an advice that is for it."""


class Ranked(msgspec.Struct, frozen=True):
    """The symptoms that fit a complaint."""

    ids: list[str]
    """The best first."""
    is_sure: bool
    """Whether the first one fits best with the groups of words and without them."""


def rank(
    kb: KnowledgeBase, text: str, packages: Collection[str], families: Collection[AdviceFor]
) -> Ranked:
    """Return the symptoms that a text can mean, in which it names some packages, and for which
    frameworks it is.
    """
    index = kb.symptom_index.get("") or SymptomIndex()
    tokens = set(kb.once("tokens", lambda: Tokens(kb.word_lists)).of(text))
    extra = [_of_names(kb.symptoms[id_], packages, families) for id_ in index.ids]
    found = _scored(index, tokens, extra)
    plain = _scored(index, {token for token in tokens if "#" not in token}, extra)
    is_sure = bool(found and plain) and found[0] == plain[0]
    return Ranked([index.ids[place] for place in found], is_sure)


def _scored(index: SymptomIndex, tokens: Collection[str], extra: list[float]) -> list[int]:
    """Places of symptoms in the index, best first."""
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
        place: score + BEST_PHRASE * best[place] + extra[place] for place, score in scores.items()
    }
    near = [place for place in final if final[place] >= LEAST]
    return sorted(near, key=lambda place: (-final[place], place))


def _of_names(
    symptom: Symptom, packages: Collection[str], families: Collection[AdviceFor]
) -> float:
    """What the packages that a text names add to the score of a symptom."""
    score = 0.0
    if symptom.packages:
        score = NAMED if set(symptom.packages) & set(packages) else -UNNAMED
    is_of_another = bool(families) and symptom.advice.keys().isdisjoint({*families, "other"})
    return score - (OTHER_FRAMEWORK if is_of_another else 0.0)
