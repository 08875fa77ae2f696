"""How alike two sentences are in their words, whatever their order, endings and everyday synonyms."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

LEAST_LIKE = 0.5
"""Likeness from which two sentences count as saying the same."""

LEAST_SHARED = 2
"""Telling words that both sentences must have."""

_WORD = re.compile(r"[a-z0-9_]*[a-z_][a-z0-9_]*|(?<![\d.])(?:[2-9]|\d\d+)(?![\d.])")
_EMPTY = frozenset(
    _WORD.findall(
        "a about after all also although am an and any are as at be because been before both but by can cannot"
        " could did do does doesn even every everything for from get gets getting give gives given got had has"
        " have how i if in into is it its just keep keeps ll make makes me my no not now of off on once one only"
        " or our s set setting several should show shows so some still t that the their them then there these they"
        " this though to too u use used uses using was we were what when where which while why will with without"
        " would you your"
        " jax keras pytorch tensorflow tf torch"
    )
)
_GROUPS = (
    "differ different difference vary variation change inconsistent nondeterministic irreproducible unstable diverge",
    "same identical equal",
    "result output outcome numbers value metric score accuracy loss prediction answer text token",
    "run execution rerun launch time",
    "seed manual_seed set_seed seed_everything",
    "gpu card cuda a100 h100 v100",
    "machine server computer node host cluster laptop workstation hardware",
    "slow slowdown slower longer speed performance",
    "resume restart checkpoint continue reload restore interrupt interrupted",
    "worker num_workers dataloader loader",
    "upgrade update version release",
    "flag deterministic determinism use_deterministic_algorithms enable_op_determinism switch",
    "eval evaluate evaluation inference validation predict",
    "digit decimal rounding tiny small slightly last place",
    "batch batch_size batchsize",
    "nan nans",
    "numpy np",
    "augment augmentation transform",
    "process rank",
    "thread core",
    "double twice half",
)
_ENDINGS = (
    "ations", "ation", "ating", "ated", "ates", "ate", "ings", "ing", "ies", "ers", "ed", "es", "er", "ly", "s", "e"
)  # fmt: skip


def _stem(word: str) -> str:
    """A word without its ending, so that `trains`, `trained` and `training` are one; a count is a `number`."""
    if word.isdigit():
        return _COUNT
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


_COUNT = "number"
_STEMS = {_COUNT: _COUNT} | {
    stem: group.split()[0] for group in _GROUPS for word in group.split() for stem in (word, _stem(word))
}


def telling(text: str) -> frozenset[str]:
    """The words of a sentence that say something, each as its group's name or its stem."""
    words = (each for each in _WORD.findall(text.lower().replace("-", "")) if each not in _EMPTY)
    return frozenset(_STEMS.get(word) or _STEMS.get(_stem(word)) or _stem(word) for word in words)


def alike(text: str, sentences: Sequence[str]) -> list[tuple[float, int]]:
    """Likeness and place of the sentences that share telling words with `text`, most alike first.

    A word counts the more the fewer sentences have it; words that no sentence has do not count.
    """
    known = [telling(each) for each in sentences]
    having = Counter(word for words in known for word in words)
    said = telling(text) & having.keys()

    def weight(words: frozenset[str]) -> float:
        return sum(math.log(1 + len(known) / having[word]) for word in words)

    shared = [(said & words, place) for place, words in enumerate(known)]
    found = [
        (2 * weight(common) / (weight(said) + weight(known[place])), place)
        for common, place in shared
        if len(common) >= LEAST_SHARED
    ]
    return sorted(found, key=lambda each: (-each[0], each[1]))
