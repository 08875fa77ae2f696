"""The settings of two recordings of a process: where they differ, results are expected to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from d9m.trace.align import Matched
from d9m.trace.findings import SettingDifference
from d9m.trace.reading import RecordStream
from d9m.trace.stream_records import ChangedSettings, Plain, StreamHeader

RATE = "learning rate"
"""How the name begins of a setting that is one."""

Settings: TypeAlias = Mapping[str, str | None]
"""Name -> value; None: not set."""


class SettingsDiff:
    """Follows the settings of both runs. A program can change them in one run alone, so what counts
    is what each has when both come to the same place.
    """

    def __init__(self, a: RecordStream, b: RecordStream) -> None:
        self._a, self._b = _Side(a), _Side(b)
        self.differences = _differences(_settings(a.header), _settings(b.header), None)
        """In the order in which they began."""
        if a.header.versions and b.header.versions:
            self.differences += _differences(_versions(a.header), _versions(b.header), None)
        self._shared = [(0, _shared(self._a.now, self._b.now))]

    def see(self, at: Matched) -> None:
        """The next place that both runs came to."""
        before = self._a.now, self._b.now
        changed = [self._a.reach(at.a.number), self._b.reach(at.b.number)]
        if not any(changed):
            return
        for difference in _differences(self._a.now, self._b.now, at.a.step):
            known = tuple(side.get(difference.name) for side in before)
            if known != (difference.a, difference.b):
                self.differences.append(difference)
        self._shared.append((at.a.number, _shared(self._a.now, self._b.now)))

    def shared_at(self, record: int) -> dict[str, str]:
        """Variables and switches that both runs had, with the same value, when run A wrote this
        record.
        """
        found: dict[str, str] = {}
        for begin, shared in self._shared:
            if begin <= record:
                found = shared
        return found


class _Side:
    """One run: variables and switches that it has now."""

    def __init__(self, stream: RecordStream) -> None:
        self.now: Settings = {**stream.header.env, **_program(stream.header)}
        self._stream = stream
        self._passed = 0
        """Changes that are in `now`."""

    def reach(self, record: int) -> bool:
        """Make the changes that were written before this record; whether there were any."""
        passed, changes = self._passed, self._stream.changes
        while self._passed < len(changes) and changes[self._passed][0] <= record:
            self.now = {**self.now, **_program(changes[self._passed][1])}
            self._passed += 1
        return self._passed > passed


def _shared(mine: Settings, its: Settings) -> dict[str, str]:
    shared: dict[str, str] = {}
    for name, value in mine.items():
        if value is not None and value == its.get(name):
            shared[name] = value
    return shared


def _differences(mine: Settings, its: Settings, step: int | None) -> list[SettingDifference]:
    found: list[SettingDifference] = []
    for name in {**mine, **its}:
        one, other = mine.get(name), its.get(name)
        if is_rate(name) and None in (one, other):
            continue  # its optimizer has not stepped yet
        if one != other:
            found.append(SettingDifference(name, one, other, step))
    return found


def _settings(header: StreamHeader) -> Settings:
    return {
        "arguments": " ".join(header.argv),
        "python": header.python,
        **header.packages,
        "device": header.device,
        "gpu": header.gpu,
        "CPU": header.cpu,
        "instruction set": header.instructions,
        "PYTHONHASHSEED": header.hashseed,
        **header.env,
        **_program(header),
    }


def _versions(header: StreamHeader) -> Settings:
    return {name: text for name, text in header.versions.items() if name not in header.packages}


def _program(said: StreamHeader | ChangedSettings) -> Settings:
    """Return what the program itself sets."""
    switches = {name: _text(value) for name, value in said.deterministic.items()}
    return {**switches, "threads": _text(said.threads)}


def _text(value: Plain) -> str | None:
    return None if value is None else str(value)


def is_rate(name: str) -> bool:
    """Whether a setting is the learning rate of an optimizer."""
    return name.startswith(RATE)
