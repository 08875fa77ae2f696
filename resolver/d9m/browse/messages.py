"""Messages that something prints: which wording it is, and whether the named release prints it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from d9m.browse.explanation import (
    Explanation,
    Printed,
    explanation,
    paragraphs,
    printing_clauses,
)
from d9m.browse.known_texts import Match, pattern, wordings
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.records import ErrorRecord, ErrorText
from d9m.model.versions import key, within
from d9m.model.when import Range

LEAST_QUOTED = 5
"""Words from the middle of a message by which it is recognised."""


def quoted(kb: KnowledgeBase, text: str) -> Explanation | None:
    """The one message on record of which a text is the middle or the end."""
    part = " ".join(text.lower().split()).strip("'\"")
    if len(part.split()) < LEAST_QUOTED:
        return None
    found: dict[str, list[ErrorText]] = {}
    for wording in wordings(kb):
        if part in " ".join(wording.text.text.lower().split()):
            found.setdefault(wording.id, []).append(wording.text)
    if len(found) != 1:
        return None
    ((id_, fitting),) = found.items()
    return explanation(kb, id_, kb.errors[id_], fitting[0], fitting, {}, 1)


_MESSAGE = re.compile(r"^[ \t]*(?:\w+\.)*\w*(?:Error|Warning|Exception): .*", re.MULTILINE)


def is_message(kb: KnowledgeBase, text: str) -> bool:
    """Whether a text is a message rather than somebody's own words: one that nobody recorded, or
    the beginning of several.
    """
    printed = sum(len(match[0]) for match in _MESSAGE.finditer(text))
    if printed > len(text) / 2:
        return True
    start = " ".join(text.lower().split())
    if len(start.split()) < LEAST_QUOTED:
        return False
    return any(wording.text.text.lower().startswith(start) for wording in wordings(kb))


def explained(kb: KnowledgeBase, found: Match, environment: Environment) -> Explanation:
    """A match as an answer, with who prints it. One that only warns says so first."""
    error, text = found.wording.error, found.text.lower()
    fitting = _fitting(error, text)
    whole = explanation(kb, found.id, error, found.wording.text, fitting, found.parts, found.line)
    warning = only_warning(kb, found)
    if warning is not None:
        advice = [*paragraphs(warning.advice)[:1], whole.advice]
        whole = msgspec.structs.replace(whole, kind="warning")
    else:
        advice = [whole.advice, *_of_gradient(kb, found.id, error)]
    printed = _printed(environment, fitting)
    return msgspec.structs.replace(whole, advice="\n\n".join(advice), printed=printed)


def only_warning(kb: KnowledgeBase, found: Match) -> ErrorRecord | None:
    """The symptom of a message after which the program goes on, if it is one."""
    words = kb.word_lists.only_warns
    return kb.errors[words.symptom] if words and words.said in found.text.lower() else None


def _of_gradient(kb: KnowledgeBase, id_: str, error: ErrorRecord) -> list[str]:
    """How an op whose gradient alone is refused may vary all the same."""
    known = kb.word_lists.refused_gradient
    home = kb.meta.folders.get(id_.partition("/")[0])
    if known is None or not error.ops or home not in kb.errors[known].packages:
        return []
    if not all(op.endswith(":backward") for op in error.ops):
        return []
    return paragraphs(kb.errors[known].advice)[:1]


def _fitting(error: ErrorRecord, text: str) -> list[ErrorText]:
    """The wordings that the most of a text can be: of a text that is cut off, several."""
    lengths: dict[int, list[ErrorText]] = {}
    for wording in error.texts:
        match = pattern(wording.text, wording.whole).search(text)
        if match is not None:
            lengths.setdefault(len(match[0]), []).append(wording)
    return lengths[max(lengths)]


def _printed(environment: Environment, fitting: list[ErrorText]) -> Printed:
    """Which releases print one of the wordings, held against those of the environment."""
    if any(environment.holding(wording.condition, assume=False) for wording in fitting):
        return "here"
    sides: set[Printed] = set()
    for clause in printing_clauses(fitting):
        for package, allowed in clause.items():
            installed = environment.packages.get(package)
            if installed is not None and isinstance(allowed, Range):
                sides.add(_side(allowed, installed.candidates.releases))
    if not sides:
        return "here"
    return next(iter(sides)) if len(sides) == 1 else "others"


def _side(printing: Range, here: Sequence[str]) -> Printed:
    """Where releases that print a text lie, seen from those that are here."""
    if not here or any(within(release, printing) for release in here):
        return "others"
    until = printing.until
    return "older" if until is not None and key(until) <= key(here[0]) else "newer"
