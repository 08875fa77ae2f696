"""The file of a lock: settings of a program, and the recording of a run with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from d9m import files
from d9m.errors import DataError, quote, reason
from d9m.model.advice import Tool
from d9m.run.plan import PlannedStatement, PlannedVariable
from d9m.trace.inject._d9m_recorder.core import private
from d9m.trace.stream_records import StreamHeader

FORMAT = 1
NAME = "d9m.lock.json"

_FILE = re.compile(r"[\w-][\w.-]*")


class CodeState(msgspec.Struct, frozen=True):
    """The commit of the folder that the program was started in; without git, nothing."""

    commit: str | None = None
    changes: str | None = None
    """Digest of what differs from the commit; None: nothing does."""


class LockFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    d9m_lock: int = FORMAT
    d9m: Tool
    """The edition of the records that chose the settings."""
    made: str
    statement: str
    """A sentence for a reader: the runs, and how far they were equal."""
    command: list[str]
    """Secrets are masked."""
    code: CodeState
    runs: int
    steps: Annotated[int, msgspec.Meta(ge=1)]
    """Steps that a run makes before it is ended."""
    variables: list[PlannedVariable]
    statements: list[PlannedStatement]
    left: list[str]
    """Settings that the program undid, and steps that only it can take."""
    recording: dict[str, list[str]]
    """File of the recording -> its lines; `d9m.trace.folder` has their format."""

    def unpack(self, path: Path) -> None:
        """Write the recording into a folder. Raises DataError."""
        path.mkdir(mode=0o700)
        for name, lines in self.recording.items():
            if not _FILE.fullmatch(name):
                raise DataError(f"{quote(name)} is not the name of a file of a recording")
            (path / name).write_text("\n".join(lines), encoding="utf-8")


def packed(path: Path) -> dict[str, list[str]]:
    """Return the files of a recording by name."""
    found: dict[str, list[str]] = {}
    for file in sorted(path.iterdir()):
        if file.is_file():
            found[file.name] = file.read_text(encoding="utf-8").split("\n")
    return found


def read(path: Path) -> LockFile:
    """Read a lock. Raises DataError where it is none, of another format or damaged."""
    try:
        content = files.content(path)
        return msgspec.json.decode(content, type=LockFile)
    except OSError as error:
        raise DataError(f"cannot read {quote(str(path))}: {reason(error)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        tip = "d9m lock -- COMMAND makes one"
        raise DataError(f"{quote(str(path))} is not a lock: {error}", tip=tip) from None


def as_text(lock: LockFile) -> str:
    """Return the text of the file: sorted keys, a line for each value, so that it can be diffed."""
    text = msgspec.json.format(msgspec.json.encode(lock, order="deterministic"), indent=1)
    return text.decode() + "\n"


def is_masked(command: Sequence[str]) -> bool:
    """Whether a stored command lacks something that was secret."""
    return any(private.MASK in word for word in command)


def header(recording: Mapping[str, list[str]]) -> StreamHeader:
    """Return the head of the first stream of a recording. Raises DataError."""
    lines = next((recording[each] for each in sorted(recording) if each.endswith(".d9m")), [""])
    text, _space, _checksum = "".join(lines[:1]).rpartition(" ")
    try:
        return msgspec.json.decode(text, type=StreamHeader)
    except msgspec.DecodeError as error:
        raise DataError(f"the recording in the lock is damaged: {error}") from None


def changed(before: LockFile, now: LockFile) -> list[str]:
    """Return what a new lock says otherwise, a line for each name."""
    old, new = _facts(before), _facts(now)
    lines = [
        f"{name}: {old.get(name)} -> {new.get(name)}"
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]
    return [*lines, "results: other digests"] if _digests(before) != _digests(now) else lines


def _facts(lock: LockFile) -> dict[str, str | None]:
    return {
        "commit": lock.code.commit,
        "changes since the commit": lock.code.changes,
        "records": lock.d9m.kb_date,
        "steps": str(lock.steps),
        **{each.name: each.value for each in lock.variables},
        **{each.name: each.lines[-1] for each in lock.statements},
        **header(lock.recording).packages,
    }


def _digests(lock: LockFile) -> dict[str, list[str]]:
    """Return the recorded steps of each process, without what describes the run."""
    return {name: lines[1:] for name, lines in lock.recording.items() if name.endswith(".d9m")}
