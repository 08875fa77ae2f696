"""Which parts of a text are sentences, and which are code, configuration or a log."""

from __future__ import annotations

import re
from collections.abc import Iterator

LEAST_WORDS = 3
"""Words of a text without its code that say something."""

LEAST_OPTIONS = 4
"""Options that a command line has and a sentence does not."""

_OPTION = re.compile(r"(?<!\S)--?[a-z][\w-]*")
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
    kept = "".join("" if is_code else _IMPORT.sub("", unit) for _line, unit, is_code in _units(text))
    words = [word for word in kept.split() if any(map(str.isalpha, word))]
    return kept if len(words) >= LEAST_WORDS else text


def code(text: str) -> Iterator[tuple[int, str]]:
    """Each part of a text that is code, configuration or output, with its line, without comments."""
    for line, unit, is_code in _units(text):
        if is_code or _ENTRY.fullmatch(unit.strip()) or _is_variable(unit.strip()):
            yield line, _COMMENT.sub("", unit)


def _units(text: str) -> Iterator[tuple[int, str, bool]]:
    """The lines and sentences of a text, each with its line and whether it is code."""
    line, is_fenced = 1, False
    for unit in _UNIT.split(text):
        is_fence = unit.lstrip().startswith("```")
        is_fenced ^= is_fence
        yield line, unit, is_fence or is_fenced and unit != "\n" or _is_code(unit)
        line += unit.count("\n")


def _is_variable(line: str) -> bool:
    """Whether a line sets a variable of the environment."""
    return "=" in line and line.partition("=")[0].isupper() and " " not in line


def _is_code(unit: str) -> bool:
    """Whether a part of a text is a statement of a program."""
    line = _COMMENT.sub("", unit).strip()
    if len(_OPTION.findall(line)) >= LEAST_OPTIONS or _STATEMENT.match(line):
        return True
    if _CALLS.search(line) and not re.search(r"\w", _CALLS.sub(" ", line)):
        return True
    assignment = _ASSIGNMENT.fullmatch(line)
    if assignment is None or line.partition("=")[0].isupper():
        return False
    return _SENTENCE.search(assignment["value"]) is None
