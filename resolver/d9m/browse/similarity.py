"""How much of what one sentence says another one says too, whatever their order, endings and
everyday synonyms.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from d9m.model.words import Words

_WORD = re.compile(r"(?<![a-z0-9_])(?:[a-z0-9_]*[a-z_][a-z0-9_]*|(?<!\.)(?:[2-9]|\d\d+)(?![\d.]))")
_ENDINGS = (
    *("ations", "ation", "ating", "ated", "ates", "ate", "ings", "ing"),
    *("ies", "ers", "ed", "es", "er", "ly", "s", "e"),
)

_COUNT = "number"

_CLAUSE = re.compile(r"[,;:()]|\b(?:but|although|though|while|because)\b")

REACH = 6
"""Words after which a negation says nothing any more: "not able to get exactly the same"."""

_RELEASE = re.compile(
    r"\b(?:version|release)s?['\"]?(?:\s*[:=]|\s+is)?\s*['\"]?v?\d[\w.]*|--version\b"
    r"|\bv?\d[\w.]*\s+(?:version|release)s?\b"
    r"|\bsame\s+(?:[\w.-]+\s+)?(?:version|release)s?\b"
)
"""A release that is named, or that is said to be the same: nothing is said of another one."""


_EXPORTED = re.compile(r"\bexport\s+(?=[a-z_]\w*=)")
"""A shell that sets a variable: nothing is said of a model that is exported."""


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


class Sentence(msgspec.Struct, frozen=True):
    """What a part of a text tells."""

    words: frozenset[str]
    clear: frozenset[str]
    """Those of its words that do not rest on a word that may mean something else."""


class SymptomWords:
    """What words say: nothing, the same as others of their group, or what their stem says."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.empty = frozenset(words.empty)
        self.faint = frozenset(words.faint)
        self.negations = frozenset(words.negations)
        self.stems = {_COUNT: _COUNT}
        self.phrases: dict[str, str] = {}
        for group in words.groups:
            for word in group:
                self._learn(word, group[0])
        self.longest_first = sorted(self.phrases, key=len, reverse=True)
        self.ruling_out = {name: _any_of(phrases) for name, phrases in words.ruling_out.items()}

    def _learn(self, word: str, group: str) -> None:
        if not _WORD.fullmatch(word):
            self.phrases[word] = group
            return
        stem = _stem(word)
        self.stems[word] = group
        self.stems.setdefault(word if stem == _COUNT else stem, group)

    def telling(self, text: str) -> frozenset[str]:
        """The words of a sentence that say something, each as its group's name or its stem."""
        return self._with_more(self._named(text))

    def _named(self, text: str) -> dict[str, str]:
        said = _EXPORTED.sub(" ", _RELEASE.sub(" ", text.lower()))
        written = said.replace("-", " ").replace("’", "'")
        plain = " ".join(written.split())
        phrase = _any_of([phrase for phrase in self.longest_first if phrase in plain])
        found = {match[0]: self.phrases[match[0]] for match in phrase.finditer(plain)}
        for clause in _CLAUSE.split(phrase.sub(" ", plain)):
            found.update(self._named_in_clause(clause))
        for name, phrases in self.ruling_out.items():
            found.update({match[0]: name for match in phrases.finditer(plain)})
        return found

    def _named_in_clause(self, clause: str) -> Iterator[tuple[str, str]]:
        """Each word that tells something and its name, the opposite one after a negation."""
        since = REACH
        for word in _WORD.findall(clause):
            since = 0 if word in self.negations else since + 1
            if word not in self.empty:
                name = self.stems.get(word) or self.stems.get(_stem(word)) or _stem(word)
                yield word, self.words.opposite.get(name, name) if since < REACH else name

    def _with_more(self, found: Mapping[str, str]) -> frozenset[str]:
        names = Counter(found.values())
        said = set(names)
        for name, other in self.words.several.items():
            if names[name] > 1:
                said.add(other)
        for name, parts in self.words.together.items():
            if names.keys() >= set(parts):
                said.add(name)
        for name, other in self.words.implies.items():
            if name in names:
                said.add(other)
        return frozenset(said)

    def thoughts(self, text: str) -> list[Sentence]:
        """What the title of a text tells, each sentence, each two that follow each other, and each
        part of a long one.
        """
        title = text.strip().partition("\n")[0]
        parts = [part for part in _parts(text) if self.telling(part)]
        pairs = [f"{first} {second}" for first, second in itertools.pairwise(parts)]
        titles = [title] if len(title.split()) <= LONGEST_SENTENCE else []
        distinct = dict.fromkeys([*titles, *parts, *pairs])
        return list(dict.fromkeys(map(self._thought, distinct)))

    def _thought(self, part: str) -> Sentence:
        named = self._named(part)
        clear = {word: named[word] for word in named if word not in self.faint}
        return Sentence(self._with_more(named), self._with_more(clear))


def _any_of(phrases: Sequence[str]) -> re.Pattern[str]:
    """Any of some phrases, as whole words where a script has words. Without any, it never fits."""
    return re.compile("|".join(map(_bounded, phrases)) or r"(?!)")


def _bounded(phrase: str) -> str:
    return rf"(?<!\w){re.escape(phrase)}(?!\w)" if phrase.isascii() else re.escape(phrase)


LONGEST_SENTENCE = 40
"""Words of a sentence that is one thought; of a longer one, parts of this length are looked at."""

_END = re.compile(r"(?<=[.!?;:])(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+|(?<=[。！？；，])|\n+")


def _parts(text: str) -> Iterator[str]:
    for sentence in _END.split(text):
        words = [word for word in sentence.split() if any(map(str.isalpha, word))]
        if len(words) <= LONGEST_SENTENCE:
            yield sentence
            continue
        for start in range(0, len(words), LONGEST_SENTENCE // 2):
            yield " ".join(words[start : start + LONGEST_SENTENCE])


class Likeness:
    """How alike a text is to sentences, by the words that distinguish the sentences."""

    def __init__(self, known: Sequence[frozenset[str]]) -> None:
        self.known = known
        having: Counter[str] = Counter()
        for words in known:
            having.update(words)
        self.weights = {word: math.log(1 + len(known) / number) for word, number in having.items()}

    def to(self, place: int, said: frozenset[str]) -> float:
        """1 where both say the same. What the sentence says and the text does not weighs more than
        the other way.
        """
        known = self.known[place]
        common = self._weight(said & known)
        missing, more = self._weight(known) - common, self._weight(said) - common
        return common / (common + MISSING * missing + MORE * more) if common else 0.0

    def _weight(self, words: frozenset[str]) -> float:
        return sum(self.weights.get(word, 0.0) for word in words)


MISSING, MORE = 0.7, 0.3
"""Shares of the words that only the sentence has, and of those that only the text has."""
