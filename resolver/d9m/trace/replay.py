"""One op alone: which call of a recording it was, and what came of calling it again and again."""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from d9m import files
from d9m.errors import DataError
from d9m.trace import folder
from d9m.trace.findings import Cause, Replay
from d9m.trace.process import name
from d9m.trace.reading import RecordStream
from d9m.trace.start import INJECT, ZoomCall
from d9m.trace.stream_records import CalledOp, Site

REPEATS = 32
SECONDS = 60.0
"""In which the calls of one process end."""
START = 180.0
"""Seconds that a process may need beyond that, to import the framework and to read the values."""


class SavedAbout(msgspec.Struct, frozen=True):
    """The part of `call.json` that is needed here."""

    reason: str | None = None
    """Why it could not be saved."""
    python: str = ""
    env: dict[str, str] = {}


class _CalledAgain(msgspec.Struct, frozen=True):
    repeats: int = 0
    distinct: int = 0
    changed: float | None = None
    max_ulp: int | None = None
    error: str | None = None


class ReplayFailure(msgspec.Struct, frozen=True):
    why: str


def wanted(path: Path, cause: Cause) -> ZoomCall | None:
    """Return which call of the recording the cause is; None where the recording does not say, and
    of an op that is not PyTorch's: no other is called alone.
    """
    for file in folder.streams(path):
        stream = RecordStream(file)
        if name(stream) == cause.process and "torch" in stream.header.packages:
            return _counted(stream, cause)
    return None


def _counted(stream: RecordStream, cause: Cause) -> ZoomCall | None:
    counts: dict[tuple[str, ...], int] = {}
    while (placed := stream.next()) is not None:
        if not isinstance(placed.record, CalledOp):
            continue
        place = _place(stream.sites[placed.record.site])
        count = counts.get(place, 0)
        if placed.number == cause.record:
            op, overload, phase, node, module = place
            return ZoomCall(
                rank=stream.header.rank,
                op=op,
                overload=overload,
                phase=phase,
                node=node,
                module=module,
                nth=count,
            )
        counts[place] = count + 1
    return None


def _place(site: Site) -> tuple[str, str, str, str, str]:
    return site.op, site.overload, site.phase, site.node or "", site.module or ""


def replayed(
    place: Path,
    env: Mapping[str, str],
    advised: tuple[Mapping[str, str], Sequence[str]] | None,
    seconds: float = math.inf,
) -> Replay | ReplayFailure:
    """Return what came of calling the op again in a separate process, as the program called it;
    then with the variables and the statements that are advised.

    `place` is the folder of the saved call, `env` what d9m had set for the program. All of it ends
    within so many `seconds`.
    """
    try:
        about = msgspec.json.decode(files.content(place / "call.json"), type=SavedAbout)
    except (OSError, DataError, *files.UNREADABLE):
        return ReplayFailure("that call did not come again in the run that was to save it")
    if about.reason is not None:
        return ReplayFailure(about.reason)
    variables = {**about.env, **env}
    until = time.monotonic() + seconds
    found = _called(place, about.python, variables, (), seconds)
    if found.error is not None:
        return ReplayFailure(found.error)
    with_advice = error = None
    left = until - time.monotonic()
    if advised is not None and left > 0:
        fixed = _called(place, about.python, {**variables, **advised[0]}, advised[1], left)
        error = fixed.error or (None if fixed.repeats > 1 else "it took too long")
        with_advice = fixed.distinct if error is None else None
    return Replay(found.repeats, found.distinct, found.changed, found.max_ulp, with_advice, error)


def _called(
    place: Path, python: str, env: Mapping[str, str], statements: Sequence[str], seconds: float
) -> _CalledAgain:
    calls = min(SECONDS, seconds / 2)
    try:
        code, last = call_again(
            python, [str(place), str(REPEATS), str(calls)], env,
            min(SECONDS + START, seconds), "\n".join(statements),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return _CalledAgain(error="it took too long")
    except (OSError, ValueError) as error:
        return _CalledAgain(error=f"{python or 'its interpreter'} cannot be run: {error}")
    with contextlib.suppress(msgspec.MsgspecError):
        return msgspec.json.decode(last, type=_CalledAgain)
    return _CalledAgain(error=f"its process ended with {code}")


def call_again(
    python: str, words: Sequence[str], env: Mapping[str, str], seconds: float, statements: str = ""
) -> tuple[int, str]:
    """Run `call_again.py` with the program's Python, and return its exit code and the last line of
    its answer. Raises TimeoutExpired, OSError and ValueError as subprocess.run does.
    """
    done = subprocess.run(  # noqa: S603  the program's own interpreter
        [python, str(INJECT / "call_again.py"), *words],
        input=statements, env={**os.environ, **env}, timeout=seconds,
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.strip().rpartition("\n")[2]
