"""A stream, read record by record. It may lack its end: the process was killed, or still runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec

from d9m.errors import DataError, quote
from d9m.files import UNREADABLE
from d9m.trace import folder
from d9m.trace.inject._d9m_recorder.core import seals
from d9m.trace.stream_records import (
    BatchContent,
    BatchIndices,
    Beside,
    Blindness,
    CalledCollective,
    CalledOp,
    ChangedSettings,
    GraphInputs,
    GraphOutputs,
    InitialParameters,
    KeptCall,
    Key,
    ModuleGradients,
    ModuleName,
    ModuleOutputs,
    ParameterNames,
    ReadValue,
    Site,
    StepEnd,
    StreamEnd,
    StreamHeader,
    StreamRecord,
    TensorSample,
    UpdatedParameters,
    site_key,
)
from d9m.trace.whole_lines import WholeLines, damaged, first_line, starting

_Line: TypeAlias = (
    StreamRecord | Site | ModuleName | ParameterNames | ChangedSettings | Blindness | Beside
)


class _StreamVersion(msgspec.Struct):
    d9m_trace: int


_line = msgspec.json.Decoder(_Line)
_header = msgspec.json.Decoder(StreamHeader)
_version = msgspec.json.Decoder(_StreamVersion)
_end = msgspec.json.Decoder(StreamEnd)


class Placed(msgspec.Struct, frozen=True):
    """A record and its place."""

    number: int
    """Of its line; the header is line 0."""
    step: int
    record: StreamRecord
    key: Key


class RecordStream:
    """One process's recording. Raises DataError for a file that is damaged or a newer format's."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.header = read_header(file)
        self.sites: dict[int, Site] = {}
        self.modules: dict[int | str, str] = {}
        self.parameters: tuple[str, ...] = ()
        """Names of those whose digests come next."""
        self.changes: list[tuple[int, ChangedSettings]] = []
        """Numbers of the lines that say so, and what the settings are from there on."""
        self.unseen: dict[str, None] = {}
        """Why something could not be seen, so far. When that shows can be chance."""
        self.end: StreamEnd | None = None
        """None before the end was read, and where the process was killed."""
        self.step = self.header.steps[0] or 0
        """The one that the next line belongs to."""
        self.number = 0
        """Of the line that was read last."""
        self.samples: dict[str, TensorSample] = {}
        """Of this step's tensors, by their digests."""
        self.kept: dict[int, str] = {}
        """Number of a call's line -> the folder with its values."""
        self._sampled_step = self.step
        self._keys: dict[int, Key] = {}
        self._table = 0
        """Of streams with the same sites so far, the same number."""
        self._held: deque[Placed] = deque()
        self._lines = WholeLines(file)
        self._lines.next()

    @property
    def ended(self) -> str:
        """Return how the process ended, once everything was read."""
        return self.end.ended if self.end is not None else "killed"

    @property
    def steps(self) -> int:
        """How many there are up to the last that was read; with those between that were not
        recorded.
        """
        whole = self.end.steps if self.end is not None else None
        return self.step if self.header.every == 1 or whole is None else whole

    def next(self) -> Placed | None:
        """The next record; None at the end."""
        if self._held:
            return self._held.popleft()
        while True:
            line = self._lines.next()
            if line is None:
                return None
            self.number += 1
            record = self._decoded(line)
            if isinstance(record, CalledOp):
                return self._placed(record)
            if isinstance(record, Site):
                self._learn(record)
            elif isinstance(record, ModuleName):
                self.modules[record.number] = record.name
            elif isinstance(record, ParameterNames):
                self.parameters = record.names
            elif isinstance(record, ChangedSettings):
                self.changes.append((self.number, record))
            elif isinstance(record, Blindness):
                self.unseen[record.why] = None
            elif isinstance(record, TensorSample):
                self._sampled(record)
            elif isinstance(record, KeptCall):
                self.kept[self.number + 1] = record.folder
            elif record is not None:
                return self._placed(record)

    def read_to_end(self) -> None:
        """Read the rest, for how it ends."""
        while self.next() is not None:
            pass

    def hold(self, records: list[Placed]) -> None:
        """Give records back, in their order: they are the next ones again."""
        self._held.extendleft(reversed(records))

    def pass_equal(self, other: RecordStream) -> int:
        """Pass over the ops that both streams write alike from here on, without decoding them; how
        many there were.
        """
        if self._held or other._held or self._table != other._table:
            return 0
        count = self._lines.pass_equal_ops(other._lines)
        self.number += count
        other.number += count
        return count

    def _decoded(self, line: bytes) -> _Line | None:
        try:
            if line.startswith(b"{"):
                self.end = _end.decode(line)
                if self.end.lines not in (None, self._lines.number - 1):
                    raise self._damaged(f"{self.end.lines} lines were written before its end")
                return None
            return _line.decode(line)
        except UNREADABLE as error:
            raise self._damaged(str(error)) from None

    def _sampled(self, sample: TensorSample) -> None:
        if self._sampled_step != self.step:
            self._sampled_step = self.step
            self.samples = {}
        self.samples[sample.digest] = sample

    def _learn(self, site: Site) -> None:
        self.sites[site.number] = site
        self._table = hash((self._table, site))
        self._keys[site.number] = site_key(site)

    def _placed(self, record: StreamRecord) -> Placed:
        step = self.step
        if isinstance(record, StepEnd):
            self.step = record.step + self.header.every
        return Placed(self.number, step, record, self._key(record))

    def _key(self, record: StreamRecord) -> Key:
        if isinstance(record, CalledOp) and record.site in self._keys:
            return self._keys[record.site]
        match record:
            case CalledOp(site=site) | ReadValue(site=site):
                if site not in self._keys:
                    raise self._damaged(f"site {site} is not described")
                key = self._keys[site]
                return key if isinstance(record, CalledOp) else ("v", *key)
            case ModuleOutputs(module=module) | ModuleGradients(module=module):
                return type(record).__name__, self.modules.get(module, str(module))
            case GraphInputs(name=name) | GraphOutputs(name=name):
                return type(record).__name__, name
            case BatchIndices(loader=loader) | BatchContent(loader=loader):
                return type(record).__name__, loader
            case CalledCollective(op=op, group=group):
                return type(record).__name__, op, group
            case _:
                return (type(record).__name__,)

    def _damaged(self, why: str) -> DataError:
        return damaged(self.file, self.number + 1, why)


def read_header(file: Path) -> StreamHeader:
    """Raises DataError for a file that is no stream, damaged, or another format's."""
    first = first_line(file)
    opened = seals.opened(first)
    line = first if opened is None else opened
    try:
        folder.require_format(file, _version.decode(line).d9m_trace)
        if opened is not None:
            return _header.decode(line)
    except UNREADABLE:
        pass
    raise DataError(f"{quote(str(file))} is not a recording of d9m, or is damaged at line 1")


def sums(file: Path) -> Iterator[tuple[str, int, str]]:
    """Letter, step and digest of all parameters, each time that they were recorded: `i` before
    the first optimizer step, `p` after each.
    """
    header = read_header(file)
    step = header.steps[0] or 0
    for line in starting(file, "ipd"):
        try:
            record = _line.decode(line)
        except UNREADABLE as error:
            raise DataError(f"{quote(str(file))} is damaged: {error}") from None
        if isinstance(record, StepEnd):
            step = record.step + header.every
        elif isinstance(record, InitialParameters):
            yield "i", step, record.whole
        elif isinstance(record, UpdatedParameters):
            yield "p", step, record.whole


def maker(file: Path, storage: int, before: int) -> Site | None:
    """The op that made a storage, as it is recorded before a line."""
    stream, made = RecordStream(file), None
    ending = f".{storage}"
    while (placed := stream.next()) is not None and placed.number < before:
        record = placed.record
        if isinstance(record, CalledOp) and any(one.endswith(ending) for one in record.outputs):
            made = made or stream.sites[record.site]
    return made
