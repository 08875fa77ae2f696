"""The settings of two recordings of a process: where they differ, results are expected to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from d9m.trace.align import Matched
from d9m.trace.findings import SettingDifference
from d9m.trace.stream_records import ChangedSettings, Plain, StreamHeader

Settings: TypeAlias = Mapping[str, str | None]
"""Name -> value; None: not set."""


def at_start(a: StreamHeader, b: StreamHeader) -> list[SettingDifference]:
    """Of the headers, in a fixed order."""
    return _differences(_settings(a), _settings(b), None)


def changed(at: Matched) -> list[SettingDifference]:
    """Of a record by which both programs changed settings on their way."""
    a, b = at.a.record, at.b.record
    if not (isinstance(a, ChangedSettings) and isinstance(b, ChangedSettings)):
        return []
    return _differences(_program(a), _program(b), at.a.step)


def shared_at_start(a: StreamHeader, b: StreamHeader) -> dict[str, str]:
    """Variables and switches that both runs had, with the same value."""
    return _shared({**a.env, **_program(a)}, {**b.env, **_program(b)})


def shared_after(at: Matched, before: Mapping[str, str]) -> dict[str, str] | None:
    """What both runs share from this record on; None where it changes no setting."""
    a, b = at.a.record, at.b.record
    if not (isinstance(a, ChangedSettings) and isinstance(b, ChangedSettings)):
        return None
    mine = _program(a)
    kept = {name: value for name, value in before.items() if name not in mine}
    return {**kept, **_shared(mine, _program(b))}


def _shared(mine: Settings, its: Settings) -> dict[str, str]:
    shared: dict[str, str] = {}
    for name, value in mine.items():
        if value is not None and value == its.get(name):
            shared[name] = value
    return shared


def _differences(mine: Settings, its: Settings, step: int | None) -> list[SettingDifference]:
    found: list[SettingDifference] = []
    for name in {**mine, **its}:
        if mine.get(name) != its.get(name):
            found.append(SettingDifference(name, mine.get(name), its.get(name), step))
    return found


def _settings(header: StreamHeader) -> Settings:
    return {
        "arguments": " ".join(header.argv),
        "python": header.python,
        **header.packages,
        "device": header.device,
        "gpu": header.gpu,
        "PYTHONHASHSEED": header.hashseed,
        **header.env,
        **_program(header),
    }


def _program(said: StreamHeader | ChangedSettings) -> Settings:
    """What the program itself sets."""
    switches = {name: _text(value) for name, value in said.deterministic.items()}
    return {**switches, "threads": _text(said.threads)}


def _text(value: Plain) -> str | None:
    return None if value is None else str(value)
