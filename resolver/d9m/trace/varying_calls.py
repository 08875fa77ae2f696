"""Values that differ between runs by their nature: clock, process id, address, chance."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from d9m.errors import DataError
from d9m.files import UNREADABLE, text
from d9m.trace.findings import Cause, OriginKind, SourceLine
from d9m.trace.inject._d9m_recorder.core.varying import NOTES

DAY = 86_400
YEARS = 40 * 365 * DAY
UNITS = (1, 10**3, 10**6, 10**9)
"""Of a clock, in a second."""
MOST_LINES = 3
CALLED: tuple[OriginKind, ...] = ("clock", "pid", "entropy")
DRAWN: tuple[OriginKind, ...] = ("random", "numpy.random")
SEEDED: tuple[OriginKind, ...] = ("torch",)
UNCALLED: tuple[OriginKind, ...] = ("hash", "addresses")


class VaryingCall(msgspec.Struct, frozen=True, array_like=True):
    """A call in the program's own files."""

    kind: str
    """clock, pid, entropy, seed, or `draw` and a module."""
    function: str
    value: float | int | None
    lines: tuple[tuple[str, int, str], ...] = ()


Like: TypeAlias = Literal["clock", "pid", "addresses"]


def calls(*paths: Path) -> list[VaryingCall]:
    """Return those that recordings noted."""
    found: list[VaryingCall] = []
    for path in paths:
        try:
            lines = text(path / NOTES).splitlines()
        except (OSError, DataError, *UNREADABLE):
            continue
        for line in lines:
            try:
                found.append(msgspec.json.decode(line, type=VaryingCall))
            except msgspec.MsgspecError:  # a process was killed while it wrote
                continue
    return found


def looks_like(a: str | None, b: str | None, pids: Sequence[int | None] = ()) -> Like | None:
    """Return what two values are, going by their size.

    >>> looks_like("1795892476", "1795892485")
    'clock'
    >>> looks_like("140061234567890", "139961234567890")
    'addresses'
    >>> looks_like("1", "2")
    """
    values = _number(a), _number(b)
    if None in values or values[0] == values[1]:
        return None
    one, other = (abs(value or 0) for value in values)
    if pids and (one, other) == tuple(pids):
        return "pid"
    now = time.time()
    if any(abs(value - now * unit) < YEARS * unit / 8 for unit in UNITS for value in (one,)):
        apart = min(abs(one - now * unit) / unit for unit in UNITS)
        return "clock" if apart < YEARS / 8 and other > one / 2 else None
    if all(0x5500_0000_0000 <= value <= 0x7FFF_FFFF_FFFF for value in (one, other)):
        return "addresses"
    return None


def is_by_chance(seed: str | None) -> bool:
    """Whether a seed is so large that the framework has chosen it."""
    value = _number(seed)
    return value is None or value > 2**40


def origin_lines(
    found: Sequence[VaryingCall], kinds: Sequence[str], cause: Cause
) -> tuple[list[str], list[SourceLine]]:
    """Return the functions of these kinds and their lines; those whose value is the cause's first,
    and if there is one, it alone.
    """
    of_kind = [call for call in found if call.kind.removeprefix("draw ") in kinds and call.lines]
    exact = [call for call in of_kind if _is_value(call.value, cause)]
    places: dict[tuple[str, tuple[str, int, str]], None] = {}
    wanted = exact or of_kind
    if set(kinds) <= {"clock", "pid", "entropy"}:
        wanted.reverse()  # the last call before the difference leads
    for call in wanted:
        places[call.function, call.lines[0]] = None
    shown = list(places)[:MOST_LINES]
    return [name for name, _line in shown], [SourceLine(*line) for _name, line in shown]


def hypotheses(
    cause: Cause, found: Sequence[VaryingCall], pids: Sequence[int | None]
) -> list[tuple[OriginKind, ...]]:
    """Return what a cause may come from, the most likely first; all calls together after each."""
    kinds = list(dict.fromkeys(call.kind for call in found))
    called: list[OriginKind] = [kind for kind in CALLED if kinds.count(kind)]
    first: Sequence[OriginKind]
    last = UNCALLED
    if cause.kind == "seed":
        called.sort(key=lambda kind: kind != looks_like(cause.a, cause.b, pids))
        first = SEEDED if is_by_chance(cause.a) else ()
        last = ()
    else:
        first = tuple(name for name in DRAWN if _draws_unseeded(name, found))
    alone: list[tuple[OriginKind, ...]] = [(kind,) for kind in (*first, *called)]
    together = [tuple(called)] if len(called) > 1 else []
    return [*alone, *together, *((kind,) for kind in last)]


def _draws_unseeded(module: str, found: Sequence[VaryingCall]) -> bool:
    """Whether the program draws from a module's generator before it seeds it."""
    uses = (call for call in found if f"draw {module}" == call.kind or _seeds(module, call))
    return next((call.kind != "seed" for call in uses), False)


def _seeds(module: str, call: VaryingCall) -> bool:
    return call.kind == "seed" and call.function.rpartition(".")[0] == module


def _number(value: str | None) -> float | None:
    try:
        return float(value or "")
    except ValueError:
        return None


def _is_value(value: float | int | None, cause: Cause) -> bool:
    wanted = _number(cause.a)
    return value is not None and wanted is not None and wanted in (int(value), value)
