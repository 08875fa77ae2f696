"""Recognise an error or warning text, in a single line or a whole log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

import d9m
from d9m.advice import SCHEMA_VERSION, Told, Tool
from d9m.answers import told_of
from d9m.environment import Environment
from d9m.failures import UsageError, nearest, quote
from d9m.kb.tables import KnowledgeBase
from d9m.records import Clause, ErrorRecord, ErrorText
from d9m.show import History, source_history


class Explanation(msgspec.Struct, frozen=True):
    """One known text that was found."""

    id: str
    kind: str
    title: str
    text: str
    """The wording that matched, with ``{…}`` where it varies."""
    parts: dict[str, str]
    """What stood where the wording varies."""
    line: int
    releases: list[Clause]
    """Releases that word it so."""
    advice: str
    ops: list[str]
    history: list[History]
    evidence: list[Told]


class Explained(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    found: list[Explanation]


MOST_TEXT = 50_000_000
"""Characters of a log that are searched."""


def explain(kb: KnowledgeBase, text: str, environment: Environment | None = None) -> Explained:
    """Every known text in `text`, first come first; with an environment, only what it can word so.

    Raises UsageError, with the nearest known texts, where there is none.
    """
    if not text.strip():
        raise UsageError("no text was given", tip='d9m explain "the error text", or a log on standard input')
    if len(text) > MOST_TEXT:
        raise UsageError(f"the text has {len(text)} characters, {MOST_TEXT} are allowed")
    matches = [
        _Match(id_, error, wording, match)
        for id_, error, wording in _wordings(kb, environment)
        if (match := pattern(wording.text).search(text)) is not None
    ]
    if not matches:
        known = [each.text for _id, _error, each in _wordings(kb, None)]
        raise UsageError(f"no known text in {quote(text.strip())}", nearest=nearest(text.strip(), known))
    best = sorted(_best(matches), key=lambda each: each.match.start())
    found = [_explained(kb, each, text.count("\n", 0, each.match.start()) + 1) for each in best]
    return Explained(SCHEMA_VERSION, Tool(d9m.__version__, kb.meta.date), found)


class _Match(NamedTuple):
    id: str
    error: ErrorRecord
    wording: ErrorText
    match: re.Match[str]

    @property
    def weight(self) -> int:
        """Letters that matched to the letter: more is more particular."""
        varying = sum(len(value) for value in self.match.groupdict().values() if value)
        return self.match.end() - self.match.start() - varying


def _best(matches: list[_Match]) -> list[_Match]:
    """At each place of the text the most particular match, and each error once."""
    kept: list[_Match] = []
    for each in sorted(matches, key=lambda match: -match.weight):
        span = range(each.match.start(), each.match.end())
        taken = any(span.start < other.match.end() and other.match.start() < span.stop for other in kept)
        if not taken and all(each.id != other.id for other in kept):
            kept.append(each)
    return kept


def _wordings(kb: KnowledgeBase, environment: Environment | None) -> Iterator[tuple[str, ErrorRecord, ErrorText]]:
    for id_ in kb.keys("errors"):
        error: ErrorRecord = kb.get("errors", id_)
        for wording in error.texts:
            if environment is None or environment.holding(wording.when):
                yield id_, error, wording


LEAST_WORDS = 5
"""Words of a wording that must stand in the text; people cut the rest off."""


def pattern(text: str) -> re.Pattern[str]:
    """A wording as a pattern, of which everything after the first words may be missing.

    ``{name}`` stands for one word, ``…`` for anything; any white space matches any.
    """
    words = [_word(word) for word in text.split()]
    least, rest = words[:LEAST_WORDS], words[LEAST_WORDS:]
    optional = ""
    for word in reversed(rest):
        optional = rf"(?:\s*{word}{optional})?"
    return re.compile(r"\s*".join(least) + optional, re.IGNORECASE)


def _word(word: str) -> str:
    parts = re.split(r"(\{[^{}]*\}|…|\.\.\.)", word)
    return "".join(_part(part) for part in parts if part)


def _part(part: str) -> str:
    if part in ("…", "..."):
        return r".{0,400}?"
    if part.startswith("{") and part.endswith("}"):
        name = part[1:-1]
        return rf"(?P<{name}>[^\s'\"]+)" if name.isidentifier() else r"[^\s'\"]+"
    return r",\s*".join(re.escape(each) for each in part.split(","))


def _explained(kb: KnowledgeBase, found: _Match, line: int) -> Explanation:
    wordings = [each for each in found.error.texts if pattern(each.text).search(found.match[0])]
    whens = [each.when if isinstance(each.when, list) else [each.when] for each in wordings]
    return Explanation(
        id=found.id,
        kind=found.error.kind,
        title=found.error.title,
        text=found.wording.text,
        parts={name: value for name, value in found.match.groupdict().items() if value},
        line=line,
        releases=list({str(each): each for group in whens for each in group if each}.values()),
        advice=found.error.advice,
        ops=list(found.error.ops),
        history=[source_history(kb, each) for each in found.error.sources],
        evidence=[told_of(kb, each) for each in found.error.evidence],
    )
