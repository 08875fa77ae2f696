"""The index of symptoms: what each word of a text adds to the score of each symptom.

BM25F over the fields of a record. A text is its words without their endings, the
groups of words that it says (``words.yaml``), and the pairs of neighbours of either kind.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping

import msgspec

from d9m.model.records import AdviceFor, Symptom
from d9m.model.words import Words

WEIGHTS = {"title": 1.5, "question": 1.0, "phrases": 0.5, "diagnosis": 0.5, "advice": 0.25}
"""Weight of a word in each field; this and what follows is chosen by cross-validation on
``tests/questions/tune``.
"""

NORMALISED = {"title": 0.2, "question": 0.2, "phrases": 0.5, "diagnosis": 0.4, "advice": 0.4}
"""How much a long field counts less, from 0 to 1."""

SATURATION, RARITY, GROUP, PAIR = 1.2, 0.5, 2.0, 0.3

_WORD = re.compile(r"[a-z_]+[a-z0-9_.]*[a-z0-9_]|[a-z]|\d+|[\u4e00-\u9fff]")
_ENDINGS = (
    *("isation", "ization", "ations", "ation", "ings", "ing", "ies", "ied", "ness", "ment"),
    *("ers", "ed", "er", "es", "ly", "s", "e"),
)
_SHORTEST, _SHORTEST_STEM = 4, 3


class Phrase(msgspec.Struct, frozen=True, array_like=True):
    """The title, the question or a phrase of a symptom."""

    symptom: int
    norm: float
    tokens: list[str]


class SymptomIndex(msgspec.Struct, frozen=True):
    ids: list[str] = []
    advice_for: list[list[AdviceFor]] = []
    """Whom each of them has advice for."""
    scores: dict[str, list[tuple[int, float]]] = {}
    """Token -> the symptoms that have it, and what it adds to the score of each."""
    weights: dict[str, float] = {}
    """Token -> how much it tells."""
    phrases: list[Phrase] = []


def stem(word: str) -> str:
    """Return a word without its ending; names of code stay whole."""
    if len(word) < _SHORTEST or "_" in word or "." in word:
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] == word[-2] else word


class Tokens:
    """How a text becomes tokens: stems, ``#group`` for each group of words, and ``a~b`` pairs."""

    def __init__(self, words: Words) -> None:
        self.empty = frozenset(map(stem, words.empty))
        self.groups: dict[tuple[str, ...], str] = {}
        for group in words.groups:
            for phrase in group:
                self.groups.setdefault(tuple(_stems(phrase)), f"#{group[0]}")
        self.longest = max(map(len, self.groups), default=0)

    def of(self, text: str) -> Counter[str]:
        stems = _stems(text)
        told = [each for each in stems if each not in self.empty]
        groups = self._groups(stems)
        pairs = [
            f"{one}~{other}"
            for run in (told, groups)
            for one, other in itertools.pairwise(run)
            if one != other
        ]
        return Counter([*told, *groups, *pairs])

    def _groups(self, stems: list[str]) -> list[str]:
        """The groups that a text says, by its longest phrases."""
        found: list[str] = []
        at = 0
        while at < len(stems):
            for size in range(min(self.longest, len(stems) - at), 0, -1):
                group = self.groups.get(tuple(stems[at : at + size]))
                if group is not None:
                    found.append(group)
                    at += size - 1
                    break
            at += 1
        return found


def _stems(text: str) -> list[str]:
    plain = text.lower().replace("’", "'").replace("n't", " not")
    return [stem(word) for word in _WORD.findall(re.sub("[-/]", " ", plain))]


def build(symptoms: Mapping[str, Symptom], words: Words) -> SymptomIndex:
    """Return the index of all symptoms."""
    tokens = Tokens(words)
    fields = [_fields(tokens, symptom) for symptom in symptoms.values()]
    having = Counter(token for each in fields for token in sorted(set[str]().union(*each.values())))
    weights = {token: _weight(token, number, len(fields)) for token, number in having.items()}
    count = max(1, len(fields))
    means = {name: sum(each[name].total() for each in fields) / count or 1.0 for name in WEIGHTS}
    scores: dict[str, list[tuple[int, float]]] = {}
    phrases: list[Phrase] = []
    for place, (symptom, field) in enumerate(zip(symptoms.values(), fields, strict=True)):
        for token in sorted(set[str]().union(*field.values())):
            often = sum(_often(name, field[name], token, means) for name in WEIGHTS)
            adds = weights[token] * often * (SATURATION + 1) / (often + SATURATION)
            scores.setdefault(token, []).append((place, round(adds, 4)))
        for phrase in (symptom.title, symptom.question, *symptom.phrases):
            known = list(tokens.of(phrase))
            norm = math.sqrt(sum(weights[token] for token in known))
            phrases.append(Phrase(place, round(norm, 4), known))
    rounded = {token: round(weight, 4) for token, weight in weights.items()}
    advice_for = [list(symptom.advice) for symptom in symptoms.values()]
    return SymptomIndex(list(symptoms), advice_for, scores, rounded, phrases)


def _fields(tokens: Tokens, symptom: Symptom) -> dict[str, Counter[str]]:
    parts = {
        "title": [symptom.title],
        "phrases": symptom.phrases,
        "question": [symptom.question],
        "diagnosis": [symptom.diagnosis],
        "advice": list(symptom.advice.values()),
    }
    return {
        name: sum((tokens.of(text) for text in texts), Counter[str]())
        for name, texts in parts.items()
    }


def _often(name: str, field: Counter[str], token: str, means: Mapping[str, float]) -> float:
    """How often a field has a token, by the field's weight and length."""
    share = NORMALISED[name]
    return WEIGHTS[name] * field[token] / (1 - share + share * field.total() / means[name])


def _weight(token: str, having: int, count: int) -> float:
    rare = math.log(1 + (count - having + 0.5) / (having + 0.5)) ** RARITY
    return rare * (PAIR if "~" in token else GROUP if token[0] == "#" else 1.0)
