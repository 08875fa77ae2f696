"""What of a text is sentences, and not code that was pasted with them."""

from __future__ import annotations

import re

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
    r"|with\s+\w.{1,99}:$)"
)
_ASSIGNMENT = re.compile(
    r"[\w.]+(?:\[[^\]]*\])?(?:\s*,\s*[\w.]+)*\s*[-+*/]?=(?!=)\s*(?P<value>\S.*)$"
)
_CALL = re.compile(r"[\w.]+\([^()]*(?:\([^()]*\)[^()]*)*\)\s*[,;]?$")
"""One call; of several in a row somebody shows what they print."""
_SENTENCE = re.compile(r"(?<![\w.])[A-Za-z']+\s+[a-z']+\s+[a-z']+(?![\w.(=])")


def prose(text: str) -> str:
    """The sentences of a text; all of it where next to nothing but code is there."""
    units = _UNIT.split(_FENCED.sub("\n", text))
    kept = "".join("" if _is_code(unit) else _IMPORT.sub("", unit) for unit in units)
    words = [word for word in kept.split() if any(map(str.isalpha, word))]
    return kept if len(words) >= LEAST_WORDS else text


def _is_code(unit: str) -> bool:
    """Whether a part of a text is a statement of a program."""
    line = unit.strip()
    if len(_OPTION.findall(line)) >= LEAST_OPTIONS:
        return True
    if _STATEMENT.match(line) or _CALL.fullmatch(line):
        return True
    assignment = _ASSIGNMENT.fullmatch(line)
    if assignment is None or line.partition("=")[0].isupper():  # a variable of the environment
        return False
    return _SENTENCE.search(assignment["value"]) is None
