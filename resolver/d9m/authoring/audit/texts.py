"""Error records: does every release that a wording names carry it, and no other?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped, ShippedRelease, meant
from d9m.kb.kinds import ERRORS

_VARIES = re.compile(r"\{[^{}]*\}|%[sdf]|\$\d")
"""Parts that differ from case to case, in records and in source texts."""

_TOPIC = re.compile(r"\b(?:in|non-?)?determinis(?:m|sim|tic|tically)\b", re.IGNORECASE)
"""Words that the collectors look for; other texts cannot be compared."""

_REFUSED = " does not have a deterministic"
SHORTEST = 12
"""Letters of a message that is particular enough to stand for a wording."""


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`text-not-shipped` and `text-shipped-elsewhere`."""
    errors = known.of(ERRORS)
    for package, releases in shipped.packages.items():
        for id_, error in errors.items():
            for number, text in enumerate(error.texts, 1):
                said = meant(text.when, known.home(id_), package, releases)
                if said is None or not _TOPIC.search(text.text):
                    continue
                have = shipped.carrying(package, lambda release, t=text.text: carries(release, t))
                subject = f"errors/{id_}#{number}"
                shown = f"{package}: {text.text[:90]}"
                if said - have:
                    yield AuditDifference(
                        "text-not-shipped", subject, shipped.spans(package, said - have), shown
                    )
                if have - said:
                    yield AuditDifference(
                        "text-shipped-elsewhere",
                        subject,
                        shipped.spans(package, have - said),
                        shown,
                    )


def carries(release: ShippedRelease, text: str) -> bool:
    """Whether the wheels of a release can say this.

    A refusal is put together from the name of the operation, which the libraries
    hand over, and a rest that is the same for all of them.
    """
    named = any(refuses(text, alert) for alert in release.all("alerts"))
    messages = release.all("messages")
    return _covered(text, messages if named else filter(_is_no_refusal, messages))


def _is_no_refusal(message: str) -> bool:
    return not _VARIES.sub("", message).strip().startswith(_REFUSED.strip())


def refuses(text: str, alert: str) -> bool:
    """Whether this is the refusal of an operation of that name."""
    name, refused, _rest = text.partition(_REFUSED)
    return (
        bool(refused)
        and re.fullmatch(".+".join(map(re.escape, _VARIES.split(name))), alert) is not None
    )


def _covered(text: str, messages: Iterable[str]) -> bool:
    """Whether messages hold the text, or make up every part of it that speaks of determinism."""
    text = " ".join(text.split())
    covered: list[tuple[int, int]] = []
    for message in messages:
        covered += _held(text, message)
    spoken = [each.span() for each in _TOPIC.finditer(text)]
    return (0, len(text)) in covered or all(
        any(low <= start and end <= high for low, high in covered) for start, end in spoken
    )


@cache
def _held(text: str, message: str) -> list[tuple[int, int]]:
    """Places in the text that a message makes up. Releases share most of their messages."""
    pieces = parts(text)
    if all(part in message for _place, part in pieces):
        return [(0, len(text))]
    own = [part for _place, part in parts(message)]
    held: list[tuple[int, int]] = []
    if sum(map(len, own)) >= SHORTEST and all(part in text for part in own):
        for part in own:
            start = text.find(part)
            held.append((start, start + len(part)))
    return [*held, *across(text, pieces, message)]


def across(text: str, pieces: list[tuple[int, str]], message: str) -> Iterator[tuple[int, int]]:
    """Yield where a message fits the text's ``{…}``: it ends, or begins, next to one of them."""
    for place, part in pieces:
        end = place + len(part)
        lengths = range(len(part), SHORTEST - 1, -1)
        if place > 0:
            after = next((size for size in lengths if message.endswith(part[:size])), 0)
            if after:
                yield place, place + after
        if end < len(text):
            before = next((size for size in lengths if message.startswith(part[-size:])), 0)
            if before:
                yield end - before, end


@cache
def parts(text: str) -> list[tuple[int, str]]:
    """Return the fixed parts of a text, with their places."""
    found: list[tuple[int, str]] = []
    start = 0
    gaps = [gap.span() for gap in _VARIES.finditer(text)]
    for end, next_start in [*gaps, (len(text), len(text))]:
        part = text[start:end]
        if part.strip():
            found.append((start + len(part) - len(part.lstrip()), part.strip()))
        start = next_start
    return found
