"""How a complaint was read, and what else it can mean."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m.browse import symptoms
from d9m.kb.store import KnowledgeBase

MOST_OTHERS = 3

MOST_NEIGHBOURS = 2
"""Other symptoms that are named to somebody who describes a particular one."""

SURE = 0.85
"""Likeness from which nobody has to be asked whether a particular symptom is meant."""


class Interpretation(msgspec.Struct, frozen=True):
    """What an answer is about, and what the text can mean instead."""

    title: str
    """The symptom that the answer is for."""
    others: list[str]
    """Other symptoms, the nearest first."""


def reading(
    kb: KnowledgeBase, text: str, described: Sequence[symptoms.Symptom]
) -> Interpretation | None:
    """How a text was read: as the general symptom, where it shows no more than that and does not
    say outright that it compares runs, or as a particular one that it does not quite describe.
    """
    lists = kb.word_lists
    if lists.general is None or not described:
        return None
    first = described[0]
    is_particular = first.id not in (lists.general, *lists.broad)
    if is_particular and (first.is_general or first.likeness >= SURE):
        return None
    if not is_particular and symptoms.compares_runs(kb, text):
        return None
    shown = [symptom.id for symptom in described]
    near = [id_ for id_ in symptoms.nearest(kb, text) if id_ not in shown]
    if is_particular:
        return Interpretation(first.record.title, near[:MOST_NEIGHBOURS])
    others = dict.fromkeys([*near, *lists.readings])
    return Interpretation(kb.errors[lists.general].title, list(others)[:MOST_OTHERS])
