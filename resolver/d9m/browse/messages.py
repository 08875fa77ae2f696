"""Messages that something prints: which wording it is, and whether the named release prints it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from d9m.browse.explanation import (
    Explanation,
    Printed,
    explanation,
    printing_clauses,
)
from d9m.browse.known_texts import Match, pattern, wordings
from d9m.browse.symptoms import FAMILIES
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.records import ErrorRecord, ErrorText, Symptom
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
    """Whether a text is a message rather than a description: an unknown one, or the beginning of
    several.
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
        advice = [warning.diagnosis, whole.advice]
        whole = msgspec.structs.replace(whole, kind="warning")
    else:
        advice = [whole.advice, *_of_gradient(kb, found.id, error)]
    printed = _printed(environment, fitting)
    return msgspec.structs.replace(whole, advice="\n\n".join(advice), printed=printed)


def only_warning(kb: KnowledgeBase, found: Match) -> Symptom | None:
    """The symptom of a message after which the program goes on, if it is one."""
    words = kb.word_lists.only_warns
    return kb.symptoms[words.symptom] if words and words.said in found.text.lower() else None


def _of_gradient(kb: KnowledgeBase, id_: str, error: ErrorRecord) -> list[str]:
    """How an op whose gradient alone is refused may vary all the same."""
    known = kb.word_lists.refused_gradient
    home = kb.meta.folders.get(id_.partition("/")[0])
    is_of_gradients = bool(error.ops) and all(op.endswith(":backward") for op in error.ops)
    advice = kb.symptoms[known].advice if known is not None and is_of_gradients else {}
    for family, text in advice.items():
        if home is not None and FAMILIES.get(home) == family:
            return [" ".join(text.partition("\n\n")[0].replace("`", "").split())]
    return []


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


LEAST_ALIKE = 0.4
"""How alike a text and a message are, from 0 to 1, so that the message is worth a look.
Complaints stay below it.
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
    """The known messages whose words a text nearly has, most alike first; none for a complaint."""
    said = _words(_PREFIX.sub("", text.strip()))
    if not said or len(said) > LONGEST_MESSAGE:
        return []
    known = [(wording, _words(wording.text.text)) for wording in wordings(kb)]
    having = Counter(word for _wording, words in known for word in words)
    found: dict[str, Resemblance] = {}
    for wording, words in known:
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
