"""Recognise an error or warning text, in a single line or a whole log, and a symptom in somebody's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from d9m.about import __version__
from d9m.browse.show import SourceHistory, source_history
from d9m.browse.similarity import LEAST_LIKE, Vocabulary
from d9m.environment.environment import Environment
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model import conditions
from d9m.model.advice import SCHEMA_VERSION, Told, Tool
from d9m.model.records import Clause, ErrorRecord, ErrorText
from d9m.resolve.answers import told_of


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
    history: list[SourceHistory]
    evidence: list[Told]


class Explained(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    found: list[Explanation]


MOST_TEXT = 50_000_000
"""Characters of a log that are searched."""


def explain(kb: KnowledgeBase, text: str, environment: Environment | None = None) -> Explained:
    """Every known text in `text`, first come first; else the known symptoms that it tells of.

    With an environment, only what it can word so. Raises UsageError, with the
    nearest known texts, where there is none.
    """
    if not text.strip():
        raise UsageError("no text was given", tip='d9m explain "the error text", or a log on standard input')
    if len(text) > MOST_TEXT:
        raise UsageError(f"the text has {len(text)} characters, {MOST_TEXT} are allowed")
    lower = text.lower()
    matches = [
        _Match(id_, error, wording, match)
        for id_, error, wording in _wordings(kb, environment)
        if error.kind != "symptom" and _may_stand(wording.text, lower)
        if (match := pattern(wording.text).search(text)) is not None
    ]
    found = [
        _explained(kb, each, text.count("\n", 0, each.match.start()) + 1)
        for each in sorted(_best(_telling(matches)), key=lambda each: each.match.start())
    ] or _symptoms(kb, text, environment)
    if not found:
        tip = "what to set, by release and op: d9m advise"
        raise UsageError(f"no known text in {quote(text.strip())}", nearest=_nearest(kb, text.strip()), tip=tip)
    return Explained(SCHEMA_VERSION, Tool(__version__, kb.meta.date), found)


LONGEST_COMPLAINT = 600
"""Characters in which people tell a symptom; a log tells none."""

MOST_SYMPTOMS = 3


def _symptoms(kb: KnowledgeBase, text: str, environment: Environment | None) -> list[Explanation]:
    """The symptoms that a sentence tells of, most alike first: the best one, and those nearly as good."""
    if len(text.strip()) > LONGEST_COMPLAINT:
        return []
    known = [each for each in _wordings(kb, environment) if each[1].kind == "symptom"]
    ranked = _vocabulary(kb).alike(text, [wording.text for _id, _error, wording in known])
    least = max(LEAST_LIKE, 0.8 * ranked[0][0]) if ranked else LEAST_LIKE
    told: dict[str, Explanation] = {}
    for likeness, place in ranked:
        id_, error, wording = known[place]
        if likeness >= least and id_ not in told:
            told[id_] = _explanation(kb, id_, error, wording, [wording], {}, 1)
    return list(told.values())[:MOST_SYMPTOMS]


def _nearest(kb: KnowledgeBase, text: str) -> list[str]:
    """Known texts spelled nearly so, else those that share most words."""
    known = list(dict.fromkeys(wording.text for _id, _error, wording in _wordings(kb, None)))
    return nearest(text, known) or [known[place] for _likeness, place in _vocabulary(kb).alike(text, known)[:3]]


def _vocabulary(kb: KnowledgeBase) -> Vocabulary:
    return kb.once("vocabulary", lambda: Vocabulary(kb.get("words", "")))


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

    @property
    def whole(self) -> bool:
        """Whether the wording stands there to its end."""
        return pattern(self.wording.text, least=None).search(self.match[0]) is not None


def _telling(matches: list[_Match]) -> list[_Match]:
    """Without beginnings that several errors share: where the text goes on otherwise or ends, it may be any of them."""
    sharing: dict[tuple[tuple[int, int], int], set[str]] = {}
    for each in matches:
        if not each.whole:
            sharing.setdefault((each.match.span(), each.weight), set()).add(each.id)
    return [each for each in matches if each.whole or len(sharing[each.match.span(), each.weight]) == 1]


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
            if environment is None or environment.holding(wording.when, assume=False):
                yield id_, error, wording


LEAST_WORDS = 5
"""Words of a wording that must stand in the text; people cut the rest off."""


def _may_stand(wording: str, text: str) -> bool:
    """Whether the fixed parts of the first words are there: most wordings are not, and need no pattern."""
    fixed = (part for word in wording.lower().split()[:LEAST_WORDS] for part in _VARIES.split(word))
    return all(part in text for part in fixed)


_VARIES = re.compile(r"\{[^{}]*\}|…|\.\.\.|,")


def pattern(text: str, least: int | None = LEAST_WORDS) -> re.Pattern[str]:
    """A wording as a pattern, of which everything after the `least` first words may be missing; None: nothing.

    ``{name}`` stands for one word, ``…`` for anything; any white space matches any.
    """
    words = [_word(word) for word in text.split()]
    needed, rest = words[:least], words[least:] if least is not None else []
    optional = ""
    for word in reversed(rest):
        optional = rf"(?:\s*{word}{optional})?"
    return re.compile(r"\s*".join(needed) + optional, re.IGNORECASE)


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
    parts = {name: value for name, value in found.match.groupdict().items() if value}
    return _explanation(kb, found.id, found.error, found.wording, wordings, parts, line)


def _explanation(
    kb: KnowledgeBase,
    id_: str,
    error: ErrorRecord,
    wording: ErrorText,
    wordings: list[ErrorText],
    parts: dict[str, str],
    line: int,
) -> Explanation:
    whens = [each.when if isinstance(each.when, list) else [each.when] for each in wordings]
    return Explanation(
        id=id_,
        kind=error.kind,
        title=error.title,
        text=wording.text,
        parts=parts,
        line=line,
        releases=[each for each in conditions.united(clause for group in whens for clause in group) if each],
        advice=error.advice,
        ops=list(error.ops),
        history=[source_history(kb, each) for each in error.sources],
        evidence=[told_of(kb, each) for each in error.evidence],
    )
