"""Which symptom on record somebody describes in words of their own."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m.browse.similarity import Likeness, Sentence, SymptomWords
from d9m.kb.store import KnowledgeBase
from d9m.model.records import ErrorRecord, ErrorText
from d9m.model.words import Words

LEAST_LIKE = 0.45
"""Likeness from which a text clearly describes a symptom."""

LEAST_NEAR = 0.3
"""Likeness from which a text may mean a symptom that it does not clearly describe."""

NEARLY = 0.85
"""Share of the best likeness from which another symptom is a second candidate."""

OUTSTANDING = 0.8
"""Share of a broad symptom's fit from which a particular one is the better answer."""

PARTICULAR = 0.1
"""What each list of words that a symptom asks for adds to its likeness."""

MOST_SYMPTOMS = 2


class Symptom(msgspec.Struct, frozen=True, eq=False):
    """A symptom that a text describes."""

    id: str
    record: ErrorRecord
    wording: ErrorText
    likeness: float
    is_general: bool = False
    """Whether the text says no more than that something differs."""

    @property
    def fit(self) -> float:
        """Likeness, and more for a symptom that asks more of a text."""
        return self.likeness * (1 + PARTICULAR * len(self.record.about))


class _Known(msgspec.Struct, frozen=True, eq=False):
    """All wordings of all symptoms."""

    wordings: list[tuple[str, ErrorRecord, ErrorText]]
    likeness: Likeness
    common: frozenset[str]
    """What the wordings of the general symptom tell: no sign of another one."""


def described(kb: KnowledgeBase, text: str, shown: frozenset[str] = frozenset()) -> list[Symptom]:
    """The symptoms that a text describes, most alike first: the best one, and those nearly as good.

    A text that is about determinism and describes none shows the general one. `shown` are the
    groups that more than its words say: two releases that it names, the code in it.
    """
    thoughts = _vocabulary(kb).thoughts(text)
    if shown:
        thoughts = [Sentence(thought.words | shown, thought.clear | shown) for thought in thoughts]
    everything = frozenset[str]().union(*(thought.words for thought in thoughts))
    best: dict[str, Symptom] = {}
    known = _known(kb)
    for place, (id_, record, wording) in enumerate(known.wordings):
        if everything & set(record.not_about):
            continue
        for thought in thoughts:
            likeness = known.likeness.to(place, thought.words)
            better = id_ not in best or likeness > best[id_].likeness
            fits = likeness >= LEAST_LIKE and better and _is_about(record, thought.words)
            if fits and not _rests_on_one_faint_word(known, place, thought):
                best[id_] = Symptom(id_, record, wording, likeness)
    nearly = _nearly_as_good(kb.word_lists, _outstanding(kb.word_lists, list(best.values())))
    return nearly[:MOST_SYMPTOMS] or _general(kb, thoughts)


def general(kb: KnowledgeBase, text: str) -> list[Symptom]:
    """The general symptom, for a text that is about determinism."""
    return _general(kb, _vocabulary(kb).thoughts(text))


def with_switch(kb: KnowledgeBase, symptoms: list[Symptom]) -> list[Symptom]:
    """What a text describes that says that deterministic ops are switched on: where settings would
    answer it, that the switch does not reach all.
    """
    id_ = kb.word_lists.with_switch
    if id_ is None or not answered_by_switches(kb, symptoms):
        return symptoms
    record = kb.errors[id_]
    return [msgspec.structs.replace(symptoms[0], id=id_, record=record, wording=record.texts[0])]


def answered_by_switches(kb: KnowledgeBase, symptoms: Sequence[Symptom]) -> bool:
    """Whether nothing that a text describes is beyond what settings reach."""
    beyond = kb.word_lists.beyond_switch
    return all(symptom.record.by_settings and symptom.id not in beyond for symptom in symptoms)


def groups(kb: KnowledgeBase, text: str) -> frozenset[str]:
    """The groups of words that a text says, and its other telling words."""
    return _vocabulary(kb).telling(text)


def usual(kb: KnowledgeBase) -> frozenset[str]:
    """What every complaint may say: the words of the general symptom, and those that alone show
    that a text is about determinism.
    """
    alone = [topic[0] for topic in kb.word_lists.topics if len(topic) == 1]
    return _known(kb).common.union(alone)


def compares_runs(kb: KnowledgeBase, text: str) -> bool:
    """Whether a text says outright that it compares runs of one program."""
    return not groups(kb, text).isdisjoint(kb.word_lists.runs)


def nearest(kb: KnowledgeBase, text: str) -> list[str]:
    """The particular symptoms of which a text says something, if not enough to describe one, most
    alike first.
    """
    known = _known(kb)
    thoughts = _vocabulary(kb).thoughts(text)
    everything = frozenset[str]().union(*(thought.words for thought in thoughts))
    usual = set(known.common)
    for place, (id_, _record, _wording) in enumerate(known.wordings):
        if id_ in kb.word_lists.broad:
            usual |= known.likeness.known[place]
    best: dict[str, float] = {}
    for place, (id_, record, _wording) in enumerate(known.wordings):
        if record.by_settings or everything & set(record.not_about):
            continue
        for thought in thoughts:
            if record.about and thought.words.isdisjoint(record.about[0]):
                continue
            signs = (known.likeness.known[place] & thought.clear) - usual
            likeness = known.likeness.to(place, thought.words) if signs else 0.0
            if likeness >= LEAST_NEAR:
                best[id_] = max(likeness, best.get(id_, 0.0))
    return sorted(best, key=lambda id_: -best[id_])


def _outstanding(words: Words, symptoms: Sequence[Symptom]) -> list[Symptom]:
    """The particular symptoms that a broad one does not fit much better; without any, the broad
    ones.
    """
    broad = [symptom for symptom in symptoms if symptom.id in words.broad]
    general = [symptom for symptom in symptoms if symptom.id == words.general]
    particular = [symptom for symptom in symptoms if symptom not in (*broad, *general)]
    best = max((symptom.fit for symptom in (*broad, *general)), default=0)
    fitting = [symptom for symptom in particular if symptom.fit >= OUTSTANDING * best]
    differing = [symptom.fit for symptom in symptoms if symptom.id not in words.sameness]
    most = max(differing, default=0)
    return [one for one in fitting if one.id not in words.sameness or one.fit >= most] or broad


def _nearly_as_good(words: Words, symptoms: Sequence[Symptom]) -> list[Symptom]:
    """The best symptom and those that fit nearly as well; where it is that results are the same,
    none of results that differ.
    """
    ranked = sorted(symptoms, key=lambda symptom: -symptom.fit)
    near = [symptom for symptom in ranked if symptom.fit >= NEARLY * ranked[0].fit]
    if near and near[0].id in words.sameness:
        return [symptom for symptom in near if symptom.id in words.sameness]
    return near


def _vocabulary(kb: KnowledgeBase) -> SymptomWords:
    return kb.once("vocabulary", lambda: SymptomWords(kb.word_lists))


def _known(kb: KnowledgeBase) -> _Known:
    return kb.once("symptoms", lambda: _collected(kb))


def _collected(kb: KnowledgeBase) -> _Known:
    wordings: list[tuple[str, ErrorRecord, ErrorText]] = []
    beside = kb.word_lists.next_to_message.values()  # never the whole of a complaint
    for id_, record in kb.errors.items():
        for wording in record.texts if record.kind == "symptom" and id_ not in beside else ():
            wordings.append((id_, record, wording))
    vocabulary = _vocabulary(kb)
    told = [
        vocabulary.telling(wording.text) - vocabulary.ruling_out.keys()
        for _id, _record, wording in wordings
    ]
    general = kb.word_lists.general
    known = zip(wordings, told, strict=True)
    common = [words for (id_, _record, _wording), words in known if id_ == general]
    return _Known(wordings, Likeness(told), frozenset[str]().union(*common))


def _is_about(record: ErrorRecord, thought: frozenset[str]) -> bool:
    return all(thought.intersection(groups) for groups in record.about)


def _rests_on_one_faint_word(known: _Known, place: int, thought: Sentence) -> bool:
    """Whether all that a text shares with a wording is what every complaint says, and one group
    that is named by a word with other meanings.
    """
    signs = (known.likeness.known[place] & thought.words) - known.common
    return len(signs) == 1 and not signs & thought.clear


def _general(kb: KnowledgeBase, thoughts: list[Sentence]) -> list[Symptom]:
    """The general symptom, for a text of which one thought is about determinism."""
    lists = kb.word_lists
    record = kb.errors.get(lists.general) if lists.general else None
    if record is None or lists.general is None:
        return []
    for thought in thoughts:
        if any(thought.words.issuperset(topic) for topic in lists.topics):
            return [Symptom(lists.general, record, record.texts[0], 0.0, is_general=True)]
    return []
