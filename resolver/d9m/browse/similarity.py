"""How alike two sentences are in their words, whatever their order, endings and everyday
synonyms.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from d9m.model.records import Words

LEAST_LIKE = 0.5
"""Likeness from which two sentences count as saying the same."""

LEAST_SHARED = 2
"""Telling words that both sentences must have."""

_WORD = re.compile(r"[a-z0-9_]*[a-z_][a-z0-9_]*|(?<![\d.])(?:[2-9]|\d\d+)(?![\d.])")
_ENDINGS = (
    "ations",
    "ation",
    "ating",
    "ated",
    "ates",
    "ate",
    "ings",
    "ing",
    "ies",
    "ers",
    "ed",
    "es",
    "er",
    "ly",
    "s",
    "e",
)


def _stem(word: str) -> str:
    """A word without its ending, so that `trains`, `trained` and `training` are one; a count is a
    `number`.
    """
    if word.isdigit():
        return _COUNT
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


_COUNT = "number"


class Vocabulary:
    """What words say: nothing, the same as others of their group, or what their stem says."""

    def __init__(self, words: Words) -> None:
        self.empty = frozenset(words.empty)
        self.stems = {_COUNT: _COUNT} | {
            stem: group[0]
            for group in words.groups
            for word in group
            for stem in (word, _stem(word))
        }

    def telling(self, text: str) -> frozenset[str]:
        """The words of a sentence that say something, each as its group's name or its stem."""
        words = (
            each for each in _WORD.findall(text.lower().replace("-", "")) if each not in self.empty
        )
        return frozenset(
            self.stems.get(word) or self.stems.get(_stem(word)) or _stem(word) for word in words
        )

    def alike(self, text: str, sentences: Sequence[str]) -> list[tuple[float, int]]:
        """Likeness and place of the sentences that share telling words with `text`, most alike
        first.

        A word counts the more the fewer sentences have it; words that no sentence has do not count.
        """
        known = [self.telling(each) for each in sentences]
        having = Counter(word for words in known for word in words)
        said = self.telling(text) & having.keys()

        def weight(words: frozenset[str]) -> float:
            return sum(math.log(1 + len(known) / having[word]) for word in words)

        shared = [(said & words, place) for place, words in enumerate(known)]
        found = [
            (2 * weight(common) / (weight(said) + weight(known[place])), place)
            for common, place in shared
            if len(common) >= LEAST_SHARED
        ]
        return sorted(found, key=lambda each: (-each[0], each[1]))
