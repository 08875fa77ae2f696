"""The interface of the formats of an advice.

A format is a module of `d9m.render.advice` with one function, `render(answer)`.
`FORMATS` of that package lists them, once.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice, OpAnswer
from d9m.render.page import WIDTH, Page


class Answer(msgspec.Struct, frozen=True):
    """An advice, and what its reader asked to see of it."""

    advice: Advice
    kb: KnowledgeBase
    """Looks up names and phrases; a format takes no facts from it."""
    command: str = "d9m advise"
    """The command as typed, for the comment of each block."""
    frameworks: tuple[str, ...] = ()
    """Import names that settings of the process must precede."""
    named_ops: bool = True
    everything: bool = False
    """Show every op and every note (`--all`)."""
    is_reported: bool = False
    """Its reader reports that runs differ: what repeats is left out."""
    of_message: bool = False
    """Its reader got an error or a warning about the ops: no settings follow, and what repeats is
    left out.
    """
    quiet: bool = False
    """Show the verdict and nothing else (`--quiet`)."""
    width: int = WIDTH
    unknown: tuple[OpAnswer, ...] = ()
    """Items that are no ops; a text about the others is followed by a line for each."""
    foreign_file: str | None = None
    """The file of settings (`--env-file`), if it holds none that d9m knows."""


class Rendered(msgspec.Struct, frozen=True):
    """One format of an answer."""

    body: Page | str
    """A page can be coloured; text is written unchanged."""
    left_out: tuple[str, ...] = ()
    """Advice without a place in this format, for stderr."""


class Format(Protocol):
    """A module that writes one format."""

    def render(self, answer: Answer) -> Rendered:
        """Raises UsageError where nothing of the advice belongs into this format."""
        ...
