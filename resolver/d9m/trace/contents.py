"""The contents of a run folder, without following its records."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from d9m.errors import DataError, quote
from d9m.trace import folder
from d9m.trace.folder import RunInfo
from d9m.trace.reading import read_header
from d9m.trace.stream_records import Blindness, StepEnd
from d9m.trace.whole_lines import WholeLines

Kind = TypeVar("Kind")

KINDS = {
    "o": ("op", "ops"), "v": ("value", "values"), "m": ("module output", "module outputs"),
    "h": ("module gradient", "module gradients"), "c": ("compiled graph", "compiled graphs"),
    "k": ("collective", "collectives"), "x": ("set of picked indices", "sets of picked indices"),
    "b": ("batch", "batches"), "l": ("loss", "losses"),
    "g": ("set of gradients", "sets of gradients"),
    "p": ("set of parameters", "sets of parameters"),
}  # fmt: skip
"""Letter of a record -> what a person calls several of them."""


PROGRAM_END = b',"end"]'
"""How the `d` record ends that marks the end of the program, not of a step."""


class StreamContents(msgspec.Struct, frozen=True):
    """The recording of one process."""

    name: str
    header: dict[str, Any]
    steps: int
    """That ended while they were recorded."""
    counts: dict[str, int]
    """Letter of a record -> how many there are."""
    unseen: tuple[str, ...]
    """Why something could not be seen."""
    step_rule: str | None
    """Rule that ended them; None: none ended before the program."""
    ended: str
    """`exit`, `steps`, `size` or `killed`."""
    bytes: int


class RunContents(msgspec.Struct, frozen=True):
    about: RunInfo
    streams: tuple[StreamContents, ...]
    complaints: tuple[str, ...]
    """Tasks in which the recorder failed."""
    not_recorded: tuple[str, ...] = ()
    """A sentence for each version of Python that is too old for it."""


def contents(path: Path) -> RunContents:
    """Raises DataError where `path` is not a recording."""
    about = folder.about(path)
    streams = tuple(_stream(stream) for stream in folder.streams(path))
    complaints = tuple(folder.complaints(path))
    return RunContents(about, streams, complaints, tuple(folder.not_recorded(path)))


def is_incomplete(found: RunContents) -> bool:
    """Whether something that was to be recorded was not."""
    missed = found.complaints or found.not_recorded
    return bool(missed) or any(stream.ended == "size" for stream in found.streams)


def lacks_level(found: RunContents) -> bool:
    """Whether nothing was recorded because a framework of the program lacks this level."""
    asked = [stream for stream in found.streams if "level" in stream.unseen]
    return bool(asked) and not any(KINDS.keys() & stream.counts for stream in found.streams)


def _stream(path: Path) -> StreamContents:
    read_header(path)
    counts: dict[str, int] = {}
    tail: dict[str, Any] = {}
    unseen: list[str] = []
    steps = 0
    step_end = b""
    lines = WholeLines(path)
    header = _object(lines.next() or b"", path)
    while (line := lines.next()) is not None:
        if line.startswith(b'["'):
            letter = chr(line[2])
            counts[letter] = counts.get(letter, 0) + 1
            if letter == "u":
                unseen.append(_record(line, path, Blindness).why)
            if letter == "d" and not line.endswith(PROGRAM_END):
                steps += 1
                step_end = line
        elif line.startswith(b"{"):
            tail = _object(line, path)
    ended = str(tail.get("ended", "killed"))
    size = path.stat().st_size
    rule = _record(step_end, path, StepEnd).rule or None if step_end else None
    return StreamContents(path.name, header, steps, counts, tuple(unseen), rule, ended, size)


def _record(line: bytes, path: Path, kind: type[Kind]) -> Kind:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.MsgspecError as error:
        raise DataError(f"{quote(str(path))} is damaged: {error}") from None


def _object(line: bytes, path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise DataError(f"{quote(str(path))} is damaged: {error}") from None
