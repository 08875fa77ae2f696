"""Texts that people will read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9m.authoring.lint.index import RecordIndex
from d9m.authoring.lint.rule import Finding, rule
from d9m.model import records

_MAY_BE_BLANK = ("list", "to")
"""A separator may be a blank, and a variable may be set to nothing."""


@rule(
    "empty-text",
    "Text that says nothing",
    """A key with nothing behind it looks answered and is not. Leave optional keys out. An error
    record needs at least one wording, because it is found by its text.""",
)
def empty_text(index: RecordIndex) -> Iterator[Finding]:
    for part in index.texts():
        if not part.value.strip() and not any(name in _MAY_BE_BLANK for name in part.path[-2:]):
            yield Finding(part.at, part.path, "empty", tip="write it, or leave the key out")
    for at, path, error in index.parts(records.ErrorRecord):
        if not error.texts:
            yield Finding(
                at, (*path, "texts"), "no wording of the error", tip="add its text, as shipped"
            )


@rule(
    "hidden-character",
    "Character that cannot be seen",
    """Control characters, zero-width and non-breaking blanks, and blanks at the end of a line come
    from copying. They break searching, comparing and copying on, and nobody can see why.""",
)
def hidden_character(index: RecordIndex) -> Iterator[Finding]:
    for part in index.texts():
        text: str = part.value
        hidden = next(
            (letter for letter in text if not letter.isprintable() and letter != "\n"), None
        )
        if hidden is not None:
            yield Finding(
                part.at,
                part.path,
                "hidden character",
                f"U+{ord(hidden):04X}",
                tip="type the text anew",
            )
        elif part.path[-1:] != ("list",) and any(
            line != line.rstrip() for line in text.split("\n")
        ):
            yield Finding(part.at, part.path, "blank at the end of a line", tip="remove it")


_MACHINE = re.compile(
    r"(?<![\w.])(/home/\w|/root/|/Users/\w|/work/|/tmp/|/mnt/|[A-Z]:\\|file:/|(?<!/job:)localhost\b)"
)
# `/job:localhost` is how TensorFlow calls a device, on every machine.


@rule(
    "machine-path",
    "Path of one machine",
    """A path of the author's own machine helps nobody else, and may tell more than was meant. Name
    the public place, or write a placeholder such as DIR.""",
)
def machine_path(index: RecordIndex) -> Iterator[Finding]:
    for part in index.texts():
        found = _MACHINE.search(part.value)
        if found is not None:
            yield Finding(
                part.at,
                part.path,
                "path of one machine",
                found[0],
                tip="name a public place, or a placeholder",
            )


RULES = (empty_text, hidden_character, machine_path)
