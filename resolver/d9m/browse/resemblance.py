"""Known messages that a text resembles without being one of them."""

from __future__ import annotations

import math
import re
from collections import Counter

import msgspec

from d9m.browse.known_texts import wordings
from d9m.kb.store import KnowledgeBase

LEAST_ALIKE = 0.4
"""How alike a text and a message are, from 0 to 1, so that the message is worth a look.
Complaints in people's own words stay below it.
"""

MOST_MESSAGES = 2
"""Messages that are offered, the most alike first."""

LONGEST_MESSAGE = 60
"""Words of a text that may be one message."""


class Resemblance(msgspec.Struct, frozen=True):
    """A known message that a text is not, and nearly is."""

    id: str
    title: str
    text: str
    alike: float
    """1 where both have the same words."""


def resembling(kb: KnowledgeBase, text: str) -> list[Resemblance]:
    """The known messages whose words a text nearly has, most alike first; none for a complaint in
    somebody's own words.
    """
    said = _words(_PREFIX.sub("", text.strip()))
    if not said or len(said) > LONGEST_MESSAGE:
        return []
    known = [(wording, _words(wording.text.text)) for wording in wordings(kb)]
    having = Counter(word for _wording, words in known for word in words)
    found: dict[str, Resemblance] = {}
    for wording, words in known:
        if wording.error.kind == "symptom":
            continue
        alike = _weight(said & words, having) / _weight(said | words, having)
        better = wording.id not in found or alike > found[wording.id].alike
        if alike >= LEAST_ALIKE and better:
            found[wording.id] = Resemblance(
                wording.id, wording.error.title, wording.text.text, round(alike, 2)
            )
    ranked = sorted(found.values(), key=lambda resemblance: -resemblance.alike)
    return ranked[:MOST_MESSAGES]


_PREFIX = re.compile(r"^(?:\w+\.)*\w*(?:Error|Warning|Exception): ")


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*", text.lower()))


def _weight(words: frozenset[str], having: Counter[str]) -> float:
    """How much some words tell: the rarer in messages, the more."""
    return sum(1 / math.log(2 + having[word]) for word in words)
