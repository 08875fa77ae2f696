"""How a complaint was read that does not say what it compares."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m.browse import symptoms
from d9m.kb.store import KnowledgeBase

MOST_OTHERS = 3


class Interpretation(msgspec.Struct, frozen=True):
    """What a general answer is about, and what the text can mean instead."""

    title: str
    """The symptom that the answer is for."""
    others: list[str]
    """Other symptoms, the nearest first."""


def reading(
    kb: KnowledgeBase, text: str, described: Sequence[symptoms.Symptom]
) -> Interpretation | None:
    """How a text was read that shows no more than a general symptom; None where it says outright
    that it compares runs, or describes a particular one.
    """
    lists = kb.word_lists
    if lists.general is None or not described or symptoms.compares_runs(kb, text):
        return None
    if described[0].id not in (lists.general, *lists.broad):
        return None
    others = dict.fromkeys([*symptoms.nearest(kb, text), *lists.readings])
    return Interpretation(kb.errors[lists.general].title, list(others)[:MOST_OTHERS])
