"""Texts about determinism in the wheels: does a user who pastes one get an answer?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.authoring.audit.texts import SHORTEST, across, parts
from d9m.kb.kinds import ERRORS


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`message-unknown`: no error record has the text, nor a longer one that it is a piece of."""
    errors = known.of(ERRORS)
    texts = [" ".join(text.text.split()) for error in errors.values() for text in error.texts]
    for package in shipped.packages:
        for message in shipped.all(package, "messages"):
            if not any(_same(message, text) for text in texts):
                have = shipped.carrying(
                    package, lambda release, m=message: m in release.all("messages")
                )
                spans = shipped.spans(package, have)
                yield AuditDifference(
                    "message-unknown", _short(message), spans, f"{package}: {message}"
                )


def _same(message: str, text: str) -> bool:
    """Whether the fixed parts of one occur in the other, or the message fits where the text says
    ``{…}``.
    """
    pieces, ours = parts(message), parts(text)
    return (
        _holds(text, pieces)
        or _holds(message, ours)
        or any(end - start >= SHORTEST for start, end in across(text, ours, message))
    )


def _holds(text: str, pieces: list[tuple[int, str]]) -> bool:
    length = 0
    for _place, piece in pieces:
        if piece not in text:
            return False
        length += len(piece)
    return length >= SHORTEST


def _short(message: str) -> str:
    """Enough of a message to name it."""
    return message if len(message) <= 80 else message[:79] + "…"
