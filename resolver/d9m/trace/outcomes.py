"""The end of a run that may have recorded nothing: imported frameworks, errors, signals."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec

from d9m.errors import AbsentError, quote
from d9m.trace import folder
from d9m.trace.findings import RunError
from d9m.trace.whole_lines import WholeLines

SIGNALLED = 128
"""Number that a shell adds to the number of the signal that ended a program."""

LONGEST = 160
"""Characters of an error that a sentence quotes; the JSON has all of it."""

_ACTS = {
    "torch": "optimizer, backward(), module with parameters or DataLoader",
    "tensorflow": "optimizer, gradient or iterator over batches",
    "jax": "jitted function",
}
"""Events that leave a record at every level, by framework."""


class _ProcessEvent(msgspec.Struct, frozen=True):
    """A line of `processes.txt`."""

    process: int
    imported: str | None = None
    error: str | None = None
    file: str | None = None
    line: int | None = None


def error(path: Path, about: folder.RunInfo, *, cut: bool = False) -> RunError | None:
    """The first exception that ended a process of a run: a launcher fails after what it started.
    In a run that d9m `cut` after its last step, only one of a process that imported a framework:
    a launcher may fail since its program is gone.
    """
    events = list(_events(path))
    able = {event.process for event in events if event.imported or not cut}
    for event in events:
        if event.error is not None and event.process in able:
            setting = _named_setting(event.error, about)
            return RunError(event.error, event.file, event.line, setting)
    return None


def run_ending(path: Path, code: int) -> str:
    """``ended with exit code 1: RuntimeError: no (train.py:7)``."""
    found = error(path, folder.about(path))
    return ending(code) + (f": {described(found)}" if found else "")


def unrecorded(path: Path, code: int | None, before: str = "") -> AbsentError:
    """Return the error that a run holds no process, with the reason."""
    tip = " ".join(folder.not_recorded(path))
    return AbsentError(before + nothing_recorded(path, code), tip=tip)


def nothing_recorded(path: Path, code: int | None) -> str:
    """Return why a run holds no process, as one sentence."""
    if not path.is_dir():
        return f"nothing was recorded: the folder of the recording is gone: {quote(str(path))}"
    events = list(_events(path))
    failed = next((event for event in events if event.error is not None), None)
    if failed is not None:
        found = RunError(failed.error or "", failed.file, failed.line)
        return f"nothing was recorded: the program ended with an error: {described(found)}"
    ended = f" and {ending(code)}" if code else ""
    imported = list(dict.fromkeys(event.imported for event in events if event.imported))
    if not imported:
        return (
            "nothing was recorded: the program started no Python that imports torch, tensorflow or "
            f"jax{ended}, or it started Python with -I, -E or -S"
        )
    acts = " and no ".join(_ACTS[name] for name in imported if name in _ACTS)
    return (
        f"nothing was recorded: the program imported {' and '.join(imported)}{ended}, but called "
        f"no {acts or 'function that is recorded'}{' before' if code else ''}"
    )


def failure(found: RunError | None, code: int | None) -> str:
    """The error that ended a run, with its line; else what its exit code means."""
    return described(found) if found is not None else code_meaning(code or 0)


def ending(code: int) -> str:
    """``ended with exit code 3``; ``was killed by SIGSEGV (signal 11)``."""
    said = code_meaning(code)
    return f"was {said}" if said.startswith("killed") else f"ended with {said}"


def code_meaning(code: int) -> str:
    """``exit code 3``; ``killed by SIGSEGV (signal 11)``."""
    try:
        return f"killed by {signal.Signals(code - SIGNALLED).name} (signal {code - SIGNALLED})"
    except ValueError:
        return f"exit code {code}"


def described(found: RunError) -> str:
    """The error, as long as a sentence, with its line."""
    text = found.text if len(found.text) <= LONGEST else f"{found.text[:LONGEST]}…"
    place = found.file if found.line is None else f"{found.file}:{found.line}"
    return f"{text} ({place})" if found.file else text


def _events(path: Path) -> Iterator[_ProcessEvent]:
    """Lines that are whole; a process that died may have left a part of one. Raises DataError."""
    file = path / folder.PROCESSES
    if file.exists():
        lines = WholeLines(file)
        for line in iter(lines.next, None):
            yield msgspec.json.decode(line, type=_ProcessEvent)


def _named_setting(text: str, about: folder.RunInfo) -> str | None:
    """The setting of this run that an error names."""
    calls = [re.match(r"[\w.]+", statement.strip()) for statement in about.python]
    names = [*about.env, *(call[0] for call in calls if call and "." in call[0])]
    return next((name for name in names if name in text), None)
