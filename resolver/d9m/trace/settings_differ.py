"""Settings that two recordings of a process do not share: what differs then is expected to."""

from __future__ import annotations

from collections.abc import Mapping

from d9m.trace.align import Matched
from d9m.trace.findings import SettingDifference
from d9m.trace.stream_records import ChangedSettings, Plain, StreamHeader


def at_start(a: StreamHeader, b: StreamHeader) -> list[SettingDifference]:
    """Of the headers, in a fixed order."""
    mine, its = _settings(a), _settings(b)
    return [
        SettingDifference(name, mine.get(name), its.get(name))
        for name in {**mine, **its}
        if mine.get(name) != its.get(name)
    ]


def changed(at: Matched) -> list[SettingDifference]:
    """Of a record by which both programs changed settings on their way."""
    a, b = at.a.record, at.b.record
    if not (isinstance(a, ChangedSettings) and isinstance(b, ChangedSettings)):
        return []
    mine = {**_named(a.deterministic), "threads": _text(a.threads)}
    its = {**_named(b.deterministic), "threads": _text(b.threads)}
    return [
        SettingDifference(name, mine.get(name), its.get(name), at.a.step)
        for name in {**mine, **its}
        if mine.get(name) != its.get(name)
    ]


def _settings(header: StreamHeader) -> dict[str, str | None]:
    return {
        "arguments": " ".join(header.argv),
        "python": header.python,
        **header.packages,
        "device": header.device,
        "gpu": header.gpu,
        "threads": _text(header.threads),
        "PYTHONHASHSEED": header.hashseed,
        **header.env,
        **_named(header.deterministic),
    }


def _named(values: Mapping[str, Plain]) -> dict[str, str | None]:
    return {f"torch.{name}": _text(value) for name, value in values.items()}


def _text(value: Plain) -> str | None:
    return None if value is None else str(value)
