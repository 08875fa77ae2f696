"""The fix of a cause: the settings that were tried, or the edit and its line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from d9m.render.phrases import join, plural
from d9m.trace.findings import (
    AppliedFix,
    Cause,
    CauseFix,
    CauseKind,
    Findings,
    OriginKind,
    SourceLine,
)

_ORIGINS: Mapping[OriginKind, str] = {
    "clock": "a fixed clock",
    "pid": "a fixed process id",
    "entropy": "fixed numbers in place of the system's entropy",
    "addresses": "objects at the same addresses",
    "hash": "PYTHONHASHSEED=0",
    "torch": "a seed for PyTorch's generator",
    "random": "a seed for Python's random generator",
    "numpy.random": "a seed for NumPy's random generator",
}
_INSTEAD: Mapping[OriginKind, str] = {
    "clock": "use a fixed value, or a number of steps, in place of {calls}",
    "pid": "use a fixed value in place of {calls}",
    "entropy": "take the numbers from a fixed seed, not from {calls}",
    "addresses": (
        "addresses differ: sort what comes from a set of objects or id(), and fill memory before "
        "it is read (numpy.empty)"
    ),
}
_EDITS: Mapping[CauseKind, str] = {
    "uninitialised": "write to this memory before it is read, for example with torch.zeros",
    "order": "put these tensors in a fixed order before this call",
    "structure": "make both runs do the same here",
    "generator": "draw equally often in each run, or from a generator for this purpose alone",
    "seed": "draw from a generator with a fixed seed: generator.manual_seed(0)",
}


def origin(cause: Cause) -> str:
    """Return where a cause comes from, and how that was found out."""
    found = cause.origin
    if found is None:
        return ""
    named = [f"{call}() at {shown_line(line)}" for call, line in zip(found.calls, found.lines)]
    lead = f"{join(named)}: " if named else ""
    held = join([_ORIGINS[kind] for kind in found.kinds])
    return f"{lead}with {held}, a pair of runs does not differ here"


def shown_line(line: SourceLine) -> str:
    return f"{line.file}:{line.line}"


def edit(cause: Cause) -> str:
    """Return the edit that removes a cause, with its line; empty where a setting does."""
    if cause.fix is not None:
        return ""
    found = cause.origin
    if found is not None and found.kinds[0] in _INSTEAD:
        calls = join([f"{call}()" for call in dict.fromkeys(found.calls)], "or")
        lines = [shown_line(line) for line in found.lines] or _own_lines(cause)
        return _at(lines[:1], _INSTEAD[found.kinds[0]].format(calls=calls or "it"))
    if cause.kind == "seed" and cause.records:
        return ""
    text = _EDITS.get(cause.kind)
    made = [shown_line(cause.made)] if cause.made else _own_lines(cause)
    return _at(made, text) if text and made else ""


def _own_lines(cause: Cause) -> list[str]:
    return [shown_line(line) for line in (cause.source, *cause.callers) if line is not None][:1]


def _at(lines: list[str], text: str) -> str:
    return f"{lines[0]}: {text}" if lines else text


def settings(fix: CauseFix) -> Iterator[str]:
    """Yield each setting of a fix, and where it goes."""
    for name, value in fix.env.items():
        yield f"{name}={value} in the environment, before Python starts"
    for statement in fix.python:
        if not statement.startswith("import "):
            yield f"{statement} at the start of the program"


def proof(fix: CauseFix) -> str:
    """Return what runs with a fix showed."""
    if fix.proved:
        return f"proved: with it, {plural(fix.runs, 'whole run')} are bitwise identical"
    if fix.runs:
        return "with it, this cause is gone; the runs still differ for another reason"
    return "with it, this cause is gone; whole runs with it were not compared"


def summary(found: Findings) -> str:
    """Return how many fixes a program needs whose runs are equal with them."""
    needed = [each for each in found.fixes if each.needed is not False]
    return f"Reproducible with {len(needed)} {'fix' if len(needed) == 1 else 'fixes'}."


def applied(each: AppliedFix) -> str:
    """Return one fix of several."""
    text = "; ".join(settings(each.fix))
    return f"{text} (not needed beside the others)" if each.needed is False else text


def command(found: Findings, program: str) -> str:
    """Return the command that starts the program with the variables that are needed."""
    env: dict[str, str] = {}
    for each in found.fixes:
        if each.needed is not False:
            env |= each.fix.env
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in env.items()), program])
