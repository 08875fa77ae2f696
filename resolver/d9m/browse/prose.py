"""Which parts of a text are sentences, and which are code, configuration or a log."""

from __future__ import annotations

import re
from collections.abc import Iterator

LEAST_WORDS = 3
"""Words of a text without its code that say something."""

LEAST_OPTIONS = 4
"""Options that a command line has and a sentence does not."""

_OPTION = re.compile(r"(?<!\S)--?[a-z][\w-]*")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_UNIT = re.compile(r"((?<=[.:;!?])\s+|(?<=;)|\n)")
_IMPORT = re.compile(
    r"(?<!\w)(?:from\s{1,9}[\w.]{1,99}\s{1,9}import\s{1,9}[\w.*, ]{1,300}"
    r"|import\s{1,9}[a-z][\w.]{0,99}(?:\s{1,9}as\s{1,9}\w{1,99})?)\s{0,9};?$"
)
_STATEMENT = re.compile(
    r"(?:>>>|@\w|def\s+\w+\(|class\s+\w+[(:]|return\b|for\s+\w[\w, ]{0,60}\s+in\s.{1,99}:$"
    r"|with\s+\w.{1,99}:$|export\s+\w+=)"
)
_ASSIGNMENT = re.compile(
    r"[\w.]+(?:\[[^\]]*\])?(?:\s*,\s*[\w.]+)*\s*[-+*/]?=(?!=)\s*(?P<value>\S.*)$"
)
_ENTRY = re.compile(r"['\"]?[A-Za-z][\w.-]*['\"]?\s*:\s*['\"]?[\w.+-]+['\"]?\s*,?$")
_CALLS = re.compile(
    r"[\w.]+(?:\[[^\]]*\])?\s?=\s?(?:[\w.]+\([^()]*\)|['\"\w.:-]+)|[\w.]+\([^()]*(?:\([^()]*\)[^()]*)*\)"
)
_SENTENCE = re.compile(r"(?<![\w.])[A-Za-z']+\s+[a-z']+\s+[a-z']+(?![\w.(=])")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//).*")


def prose(text: str) -> str:
    """The sentences of a text; all of it where next to nothing but code is there."""
    units = _UNIT.split(_FENCED.sub("\n", text))
    kept = "".join("" if _is_code(unit) else _IMPORT.sub("", unit) for unit in units)
    words = [word for word in kept.split() if any(map(str.isalpha, word))]
    return kept if len(words) >= LEAST_WORDS else text


def code(text: str) -> Iterator[tuple[int, str]]:
    """Each part of a text that is code, configuration or output, with its line."""
    is_fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        is_fenced ^= line.lstrip().startswith("```")
        is_whole = is_fenced or _is_set(line) or _ENTRY.fullmatch(line.strip())
        for unit in [line] if is_whole else _UNIT.split(line):
            if is_whole or _is_set(unit):
                yield number, _COMMENT.sub("", unit)


def _is_set(unit: str) -> bool:
    """Whether a part of a text is a statement, or sets a variable of the environment."""
    return _is_code(unit) or _is_variable(unit.strip())


def _is_variable(line: str) -> bool:
    """Whether a line sets a variable of the environment."""
    return "=" in line and line.partition("=")[0].isupper() and " " not in line


def _is_code(unit: str) -> bool:
    """Whether a part of a text is a statement of a program."""
    line = _COMMENT.sub("", unit).strip()
    if len(_OPTION.findall(line)) >= LEAST_OPTIONS or _STATEMENT.match(line):
        return True
    if (
        not _is_variable(line)
        and _CALLS.search(line)
        and not re.search(r"\w", _CALLS.sub(" ", line))
    ):
        return True
    assignment = _ASSIGNMENT.fullmatch(line)
    if assignment is None or line.partition("=")[0].isupper():
        return False
    return _SENTENCE.search(assignment["value"]) is None
