"""Find the errors and warnings on record in a text of any length, in one pass."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.records import ErrorRecord, ErrorText

LEAST_WORDS = 5
"""Words of a message that the text must hold; people cut the rest off."""

LONG = 200_000
"""Characters from which a text is a log. A log has its messages whole, and is searched for their
rarest parts.
"""

BEFORE, BEHIND = 1_000, 4_000
"""Characters before and after a rare part in which its message is looked for."""


class Wording(msgspec.Struct, frozen=True, eq=False):
    """One wording of one record, with the parts by which it is looked for, in lower case."""

    id: str
    error: ErrorRecord
    text: ErrorText
    start: tuple[str, ...]
    """The fixed parts of its first words."""
    rare: str
    """A part that few other texts have."""


class Match(msgspec.Struct, frozen=True, eq=False):
    """A message of a record found in the text."""

    wording: Wording
    start: int
    line: int
    text: str
    parts: dict[str, str]
    """The texts in place of the variable parts."""
    prefix: str
    """The text before it in its line: ``UserWarning: ``."""

    @property
    def id(self) -> str:
        return self.wording.id

    @property
    def weight(self) -> int:
        """Letters that matched to the letter: more is more particular."""
        return len(self.text) - sum(len(value) for value in self.parts.values())

    @property
    def whole(self) -> bool:
        """Whether the message is there to its end."""
        return pattern(self.wording.text.text, whole=True).search(self.text.lower()) is not None

    def overlaps(self, other: Match) -> bool:
        return self.start < other.start + len(other.text) and other.start < self.start + len(
            self.text
        )


def wordings(kb: KnowledgeBase) -> Sequence[Wording]:
    """Every wording of every error and warning."""
    return kb.once("wordings", lambda: list(_wordings(kb)))


def _wordings(kb: KnowledgeBase) -> Iterator[Wording]:
    for id_, error in kb.errors.items():
        for wording in error.texts:
            text = wording.text.lower()
            start: list[str] = []
            for word in text.split()[:LEAST_WORDS]:
                start += filter(None, _VARIES.split(word))
            rare = _SHARED if _SHARED in text else max(_VARIES.sub(" ", text).split(), key=len)
            yield Wording(id_, error, wording, tuple(start), rare)


_SHARED = "determinis"
"""A part that nearly all messages have: the fewer parts a log is searched for, the faster."""

_VARIES = re.compile(r"\{[^{}]*\}|…|\.\.\.|,")


def search(
    kb: KnowledgeBase, blocks: Iterable[str], environment: Environment | None = None
) -> list[Match]:
    """The known texts in a text that comes in blocks, first come first, each record once.

    Every block but the last has `LONG` characters or more. Of two that fit alike,
    it is the one that the environment can print.
    """
    found: dict[str, Match] = {}
    for place in _places(kb, blocks):
        for match in _best(_telling(list(_matches(kb, place))), environment):
            found.setdefault(match.id, match)
    whole = [match for match in found.values() if not _is_part(match, found.values())]
    return sorted(whole, key=lambda match: match.start)


def _is_part(match: Match, others: Iterable[Match]) -> bool:
    """Whether a match is the beginning of a message that another record words in more detail: the
    same message once more, and cut off.
    """
    said = " ".join(match.text.split())
    return any(
        match.weight < other.weight and " ".join(other.text.split()).startswith(said)
        for other in others
    )


class _Place(msgspec.Struct, frozen=True):
    """A part of the text that may hold messages, and where it begins."""

    text: str
    start: int
    line: int


def _places(kb: KnowledgeBase, blocks: Iterable[str]) -> Iterator[_Place]:
    """A short text as a whole; of a long one what surrounds rare parts, in each distinct line
    once.
    """
    blocks = iter(blocks)
    first = next(blocks, "")
    if len(first) < LONG:
        yield _Place(first, 0, 1)
        return
    parts = {wording.rare for wording in wordings(kb)}
    rare, longest = re.compile("|".join(re.escape(part) for part in parts)), max(map(len, parts))
    seen: set[int] = set()
    text, begin, line, done = "", 0, 1, 0
    for block in itertools.chain([first], blocks, [""]):
        kept = max(0, len(text) - BEFORE - BEHIND)
        line += text.count("\n", 0, kept)
        text, begin, done = text[kept:] + block, begin + kept, max(0, done - kept)
        ready = max(done, len(text) - BEHIND) if block else len(text)
        for found in rare.finditer(_lower(text), done, ready + longest):
            around = hash(_line(text, found.start()))
            if found.start() < ready and around not in seen:
                seen.add(around)
                at = max(0, found.start() - BEFORE)
                yield _Place(
                    text[at : found.end() + BEHIND], begin + at, line + text.count("\n", 0, at)
                )
        done = ready


AROUND = 200
"""Characters on either side by which a line is known again."""

_DIGITS = str.maketrans("", "", "0123456789")


def _line(text: str, at: int) -> str:
    """Return the rest of the line around a place, without numbers: those of a repeated message
    differ.
    """
    start = max(at - AROUND, text.rfind("\n", max(0, at - AROUND), at) + 1, 0)
    end = text.find("\n", at, at + AROUND)
    return text[start : at + AROUND if end < 0 else end].translate(_DIGITS)


def _lower(text: str) -> str:
    """In lower case, and as long as before."""
    return text.replace("\u0130", "I").lower()


def _matches(kb: KnowledgeBase, place: _Place) -> Iterator[Match]:
    """Yield every message that is found there, each of its different texts once."""
    lower = _lower(place.text)
    for wording in wordings(kb):
        if not all(part in lower for part in wording.start):
            continue
        seen: set[str] = set()
        for found in pattern(wording.text.text, wording.text.whole).finditer(lower):
            text = place.text[found.start() : found.end()]
            if text not in seen:
                seen.add(text)
                named = [name for name in found.groupdict() if found[name]]
                parts = {name: place.text[slice(*found.span(name))] for name in named}
                line = place.line + place.text.count("\n", 0, found.start())
                prefix = place.text[place.text.rfind("\n", 0, found.start()) + 1 : found.start()]
                yield Match(wording, place.start + found.start(), line, text, parts, prefix)


def _telling(matches: list[Match]) -> list[Match]:
    """Without beginnings that several errors share: where the text goes on otherwise or ends, it
    may be any of them.
    """
    sharing: dict[tuple[int, str, int], set[str]] = {}
    cut = [match for match in matches if not match.whole]
    for match in cut:
        sharing.setdefault((match.start, match.text, match.weight), set()).add(match.id)
    shared = {id(match) for match in cut if len(sharing[match.start, match.text, match.weight]) > 1}
    return [match for match in matches if id(match) not in shared]


def _best(matches: list[Match], environment: Environment | None) -> list[Match]:
    """At each place of the text the most particular match, and each record once."""
    kept: list[Match] = []
    for match in sorted(
        matches,
        key=lambda match: (-match.weight, not printed(match.wording, environment), match.start),
    ):
        if not any(match.overlaps(other) or match.id == other.id for other in kept):
            kept.append(match)
    return kept


def printed(wording: Wording, environment: Environment | None) -> bool:
    """Whether something in the environment can word it so."""
    return environment is None or bool(environment.holding(wording.text.condition, assume=False))


@functools.cache
def pattern(text: str, whole: bool = False) -> re.Pattern[str]:
    """A wording as a pattern for lower case, of which all after the first words may be missing
    unless it is to be `whole`.

    ``{name}`` stands for one word, ``…`` for anything; any white space matches any. Only one part
    of a pattern can take a blank: of two, each would try all that the other leaves.
    """
    words = [_word(word) for word in text.split()]
    least = len(words) if whole else LEAST_WORDS
    needed, rest = words[:least], words[least:]
    optional = ""
    for word in reversed(rest):
        optional = rf"(?:{word}{optional})?"
    whole_word = (
        r"(?<![^\s'\"])" if text.startswith("{") else ""
    )  # or each letter of a long one is a beginning
    return re.compile(whole_word + "".join(needed).removeprefix(_BLANKS) + optional)


_BLANKS = r"\s*"
_ANYTHING = rf"(?:{_BLANKS}\S(?:.{{0,400}}?\S)??)??"
_ONE_WORD = r"[^\s'\"]{1,400}"
_COMMA = r"(?:,|\s*\Z)\s*"
"""A text that is cut off before a comma may go on with it, as other wordings do not."""


def _word(word: str) -> str:
    """A word with the blanks before it."""
    parts = [part for part in re.split(r"(\{[^{}]*\}|…|\.\.\.)", word) if part]
    patterns = "".join(map(_part, parts)).removesuffix(_BLANKS)
    return patterns if patterns.startswith(_ANYTHING) else _BLANKS + patterns


def _part(part: str) -> str:
    if part in ("…", "..."):
        return _ANYTHING
    if part.startswith("{") and part.endswith("}"):
        name = part[1:-1]
        return rf"(?P<{name}>{_ONE_WORD})" if name.isidentifier() else _ONE_WORD
    return _COMMA.join(re.escape(piece.lower()) for piece in part.split(","))
