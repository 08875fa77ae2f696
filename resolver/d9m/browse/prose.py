"""What of a text is sentences, and not code that was pasted with them."""

from __future__ import annotations

import re

LEAST_WORDS = 3
"""Words of a text without its code that say something."""

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_UNIT = re.compile(r"((?<=[.:;!?])\s+|(?<=;)|\n)")
_IMPORT = re.compile(
    r"(?<!\w)(?:from\s+[\w.]+\s+import\s+[\w.*, ]+|import\s+[a-z][\w.]*(?:\s+as\s+\w+)?)\s*;?$"
)
_STATEMENT = re.compile(
    r"(?:>>>|@\w|def\s+\w+\(|class\s+\w+[(:]|return\b|for\s+\w[\w, ]*\s+in\s.*:$|with\s+\w.*:$)"
)
_ASSIGNMENT = re.compile(
    r"[\w.]+(?:\[[^\]]*\])?(?:\s*,\s*[\w.]+)*\s*[-+*/]?=(?!=)\s*(?P<value>\S.*)$"
)
_CALL = re.compile(r"[\w.]+\(.*\)\s*[,;]?$")
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
    if _STATEMENT.match(line) or _CALL.fullmatch(line):
        return True
    assignment = _ASSIGNMENT.fullmatch(line)
    return assignment is not None and _SENTENCE.search(assignment["value"]) is None
