"""The errors that commands raise, and their exit codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ends: the first that applies of 5, 4, 2, 1, 3 and 0."""

    ANSWERED = 0
    FINDINGS = 1
    USAGE = 2
    UNKNOWN = 3
    ABSENT = 4
    DATA = 5

    @property
    def meaning(self) -> str:
        """The meaning of the code for a script, in a sentence or two."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.ANSWERED: (
        "complete and good: everything asked for was read, run and compared, and nothing was found"
    ),
    ExitCode.FINDINGS: (
        "findings: an op is unsolved or raises an error; settings conflict; an advised setting is "
        "missing, wrong or too late; results differ between runs, releases or machines; two runs "
        "have different lengths; a wrong value; scan, lint and audit: findings"
    ),
    ExitCode.USAGE: (
        "usage: unknown option, op, version, container, package or fact; options that contradict "
        "each other; text not recognised; output that cannot be written"
    ),
    ExitCode.UNKNOWN: (
        "incomplete: part of the answer is unknown or depends on something that was not said; a "
        "file was not read; something was not run or compared; a recorded run ended with an error "
        "or was cut by a default limit (advise and scan: --allow-unknown turns 3 into 0)"
    ),
    ExitCode.ABSENT: (
        "nothing was done: the device or framework is absent or broken, no probe could run, no "
        "process was recorded, or there was nothing to read or compare"
    ),
    ExitCode.DATA: (
        "bad or incompatible data: a knowledge base, report, recording, baseline or file of "
        "settings or packages; or an internal error of d9m"
    ),
}


class D9mError(Exception):
    """One clear error: what is wrong, where, and what would be right.

    `allowed` lists what would have been accepted, `nearest` the likeliest of
    it; both may be empty. The text never holds control characters: it may
    quote anything a user typed.
    """

    exit_code = ExitCode.USAGE

    def __init__(
        self, what: str, *, nearest: Iterable[str] = (), allowed: Iterable[str] = (), tip: str = ""
    ) -> None:
        self.what = printable(what)
        self.nearest = [printable(each) for each in nearest]
        self.allowed = [printable(each) for each in allowed]
        self.tip = printable(tip)
        super().__init__(self.text())

    def text(self) -> str:
        parts = [self.what]
        if self.nearest:
            parts.append("did you mean " + _either(self.nearest) + "?")
        if self.allowed and (not self.nearest or len(self.allowed) <= MOST_ALLOWED):
            parts.append("allowed: " + ", ".join(self.allowed))
        if self.tip:
            parts.append(self.tip)
        return "\n  ".join(parts)


class UsageError(D9mError):
    """The question cannot be asked like this."""

    exit_code = ExitCode.USAGE


class TooLate(UsageError):  # noqa: N818  a public name, as people read it
    """A setting that only the start of the process could make."""


class Refused(UsageError):  # noqa: N818
    """A setting that cannot be made, or could not be undone; nothing was set."""


class DataError(D9mError):
    """The knowledge base, or a file that was given, is broken or from another d9m."""

    exit_code = ExitCode.DATA


class AbsentError(D9mError):
    """The device or file in question is not on this machine."""

    exit_code = ExitCode.ABSENT


MOST_ALLOWED = 10
"""Values that an error lists next to the nearest ones; a longer list would hide these."""

LONGEST_QUOTE = 80
"""Characters of a user's text that an error repeats; the rest tells a person nothing."""


def several(mistakes: Sequence[D9mError]) -> UsageError:
    """One error for several mistakes in the ops: a line for each, then what to do about them.

    >>> print(several([UsageError("unknown op 'ad'", nearest=["add"]), UsageError("no 'b'")]))
    2 mistakes in the ops
      unknown op 'ad': did you mean add?
      no 'b'
    """
    lines: list[str] = []
    for mistake in mistakes:
        meant = f": did you mean {_either(mistake.nearest)}?" if mistake.nearest else ""
        lines.append(f"{mistake.what}{meant}")
    tips = dict.fromkeys(mistake.tip for mistake in mistakes if mistake.tip)
    return UsageError("\n  ".join([f"{len(mistakes)} mistakes in the ops", *lines, *tips]))


def printable(text: str) -> str:
    """`text` as a terminal may get it: without control characters, and without what turns the
    direction of text.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text)


def quote(text: str) -> str:
    """`text` as an error message shows it: in quotes, short, without line breaks."""
    short = printable(text).replace("\n", "?")
    if len(short) > LONGEST_QUOTE:  # a path ends with what tells it from others
        half = LONGEST_QUOTE // 2
        short = f"{short[:half]}…{short[-half:]}"
    return repr(short)


def reason(error: OSError | UnicodeDecodeError) -> str:
    """Why a file could not be read or written, without numbers and without its name again."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8"


LEAST_ALIKE = {True: 0.6, False: 0.7}
"""How alike a name is that may have been meant, by whether it is of three letters at most: `TDX`
may be `TDO`, but `resnet` is not `resize`.
"""


def nearest(text: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The names most like `text`, best first; none if nothing is close."""
    import difflib

    by_lower = {name.lower(): name for name in names}
    wanted = text.lower()[:LONGEST_QUOTE]
    inside: list[str] = []
    if len(wanted) > 2:
        start = re.compile(rf"(?<![^\W_]){re.escape(wanted)}")
        words = {wanted, *re.split(r"[\W_]+", wanted)}
        inside = [
            lower
            for lower in by_lower
            if (wanted in lower and start.search(lower)) or (len(lower) > 2 and lower in words)
        ]
    close = difflib.get_close_matches(
        wanted, by_lower, n=5 * most, cutoff=LEAST_ALIKE[len(wanted) <= 3]
    )
    close = sorted(sorted(close), key=lambda each: _likeness(wanted, each), reverse=True)
    ranked = dict.fromkeys([*close, *sorted(inside, key=lambda each: abs(len(each) - len(wanted)))])
    return [by_lower[each] for each in list(ranked)[:most]]


def _likeness(wanted: str, name: str) -> tuple[float, int]:
    """How alike two names are; among equals, the beginning counts."""
    import difflib

    matcher = difflib.SequenceMatcher(a=name, b=wanted)
    differing = (at for at, (one, other) in enumerate(zip(wanted, name)) if one != other)
    return matcher.ratio(), next(differing, len(wanted))


def _either(names: list[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
