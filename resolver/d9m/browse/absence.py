"""Find what a text says that its program lacks: ``without dropout``, ``num_workers=0``."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from d9m.kb.store import KnowledgeBase

_SENTENCE = re.compile(r"((?<=[.!?;])\s+|\n+)")


class _Patterns(msgspec.Struct, frozen=True, eq=False):
    absent: re.Pattern[str]
    """A thing, or several, with the words that say that it is absent."""
    name: re.Pattern[str]
    """A thing that can be absent."""
    contrast: re.Pattern[str]
    """Words of a sentence about what happens without a thing."""
    example: re.Pattern[str]
    """Brackets that hold an example."""


def present(kb: KnowledgeBase, text: str) -> str:
    """Return a text without the things that it names only as absent or as an example in brackets.

    A thing that is absent in one place and present elsewhere in the text is one of two cases that
    the author compares.
    """
    patterns = kb.once("absence", lambda: _patterns(kb))
    text = patterns.example.sub(" ", text)
    parts: list[str] = []
    for sentence in _SENTENCE.split(text):
        is_contrast = patterns.contrast.search(sentence) is not None
        parts.append(sentence if is_contrast else patterns.absent.sub(" ", sentence))
    kept = "".join(parts)
    left = set(map(_plain, patterns.name.findall(kept)))
    return text if left.intersection(map(_plain, _absent(patterns, text))) else kept


def _absent(patterns: _Patterns, text: str) -> Iterable[str]:
    """The things that a text says to be absent."""
    for match in patterns.absent.finditer(text):
        yield from patterns.name.findall(match[0])


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", " ", name.lower())


def _patterns(kb: KnowledgeBase) -> _Patterns:
    words = kb.word_lists
    absent = words.absent
    name = _any_of(absent.names)
    before, behind = _any_of(absent.before), "|".join(map(_spaced, absent.behind)) or r"(?!)"
    several = rf"{name}(?:(?:\s*,\s*{name})*\s*,?\s*(?:or|nor)\s+{name})?"
    no_comparison = r"(?<!with and )(?<!with or )(?<!than )(?<!vs )(?<!vs\. )(?<!versus )"
    return _Patterns(
        re.compile(
            rf"{no_comparison}{before}\s+(?:(?:any|an?|the)\s+)*`?{several}`?"
            rf"|{name}(?:{behind})(?!\w)",
            re.IGNORECASE,
        ),
        re.compile(name, re.IGNORECASE),
        re.compile(
            _any_of(absent.contrasts),
            re.IGNORECASE,
        ),
        re.compile(rf"\(\s*{_any_of(absent.examples)}[^()]*\)", re.IGNORECASE),
    )


def _any_of(phrases: Iterable[str]) -> str:
    """Any of some phrases as whole words, the longest first."""
    longest_first = sorted(phrases, key=len, reverse=True)
    either = "|".join(map(_spaced, longest_first)) or r"(?!)"
    return rf"(?<![\w.])(?:{either})(?!\w)"


def _spaced(phrase: str) -> str:
    """A phrase whose words may be joined by a hyphen."""
    return r"[\s-]+".join(map(re.escape, phrase.split(" ")))
