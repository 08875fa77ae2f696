"""A command recorded like another run, to be compared with it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from d9m.errors import DataError, UsageError, quote

if TYPE_CHECKING:
    from d9m.trace.findings import Findings
    from d9m.trace.hunt import HuntLimits, Runs
    from d9m.trace.start import RecordingRequest, RunExit


def command_or_recording(option: str, text: str | None) -> list[str] | Path:
    """Return the words of a command, or the folder of a recording. Raises UsageError."""
    from d9m.trace.folder import ABOUT

    text = text or ""
    if (Path(text) / ABOUT).is_file():
        return Path(text)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{option} {quote(text)}: {error}") from None
    if not words:
        raise UsageError(f"{option} is empty", tip=f"for example: {option} 'python train.py'")
    return words


def like(recording: Path, request: RecordingRequest) -> RecordingRequest:
    """Return the request that records a run as `recording` was. Raises DataError."""
    from d9m.trace import folder
    from d9m.trace.contents import contents
    from d9m.trace.reading import read_header

    streams = folder.streams(recording)
    if not streams:
        raise DataError(f"{quote(str(recording))} holds no process")
    header = read_header(streams[0])
    ended = [stream.steps for stream in contents(recording).streams if stream.ended == "steps"]
    first, last = header.steps
    return msgspec.structs.replace(
        request,
        level=header.level,
        inputs=header.inputs,
        compiled=header.compiled,
        first=first or 0,
        last=last,
        every=header.every,
        stop=(first or 0) + max(ended) if ended else request.stop if last is None else last + 1,
    )


class Commands(msgspec.Struct, frozen=True):
    """Two commands, or a command and a recording, and what returns the runner of a command."""

    a: list[str] | Path
    b: list[str] | Path
    runner: Callable[[Sequence[str]], Runs]

    def compared(
        self,
        place: Path,
        request: RecordingRequest,
        limits: HuntLimits,
        kb_date: str,
        on_progress: Callable[[str], None],
    ) -> Findings:
        """Return what differs: two commands step by step, then the ops of the step that differs; a
        recording as far as it goes.
        """
        from d9m.trace.comparison import Wanted, compare
        from d9m.trace.hunt import Hunt

        if isinstance(self.a, list) and isinstance(self.b, list):
            limits = msgspec.structs.replace(limits, most=4)
            return Hunt(self._in_turn, place, request, limits, kb_date, on_progress).found()
        if isinstance(self.a, Path) and isinstance(self.b, Path):
            raise UsageError("--a and --b are both recordings", tip="d9m diff compares them")
        paths = [self._recorded(side, place / "run-1", request) for side in (self.a, self.b)]
        return compare(paths[0], paths[1], kb_date, Wanted(resume=False))

    def _recorded(self, side: list[str] | Path, path: Path, request: RecordingRequest) -> Path:
        if isinstance(side, Path):
            return side
        other = self.a if isinstance(self.a, Path) else self.b
        self.runner(side)(path, like(Path(str(other)), request), None)
        return path

    def _in_turn(
        self, path: Path, request: RecordingRequest, watch: Callable[[], bool] | None
    ) -> RunExit:
        """Record the command of a folder `run-N`: the first of an odd one."""
        number = int(path.name.rpartition("-")[2])
        words = self.a if number % 2 else self.b
        return self.runner(words if isinstance(words, list) else [])(path, request, watch)
