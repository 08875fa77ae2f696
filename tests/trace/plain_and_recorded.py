"""A program of `transparent/`, run plain and recorded: what a user can see of a run."""

from __future__ import annotations

import os
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path

from d9m.trace import folder, start

PROGRAMS = Path(__file__).with_name("transparent")


@dataclass(frozen=True)
class SeenRun:
    """What came of a run."""

    code: int
    """Negative: the number of the signal that ended it."""
    stdout: str
    files: dict[str, bytes]
    """That it left in its working directory."""


@dataclass(frozen=True)
class TriedProgram:
    seen: SeenRun
    stderr: str
    peak: int
    """Kilobytes of memory, of the largest of its processes."""
    complaints: list[str]
    """Of the recorder."""
    streams: int
    """Processes that were recorded."""


def names() -> list[str]:
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def run(python: str, name: str, place: Path, level: str | None) -> TriedProgram:
    """TriedProgram a program in a folder that is made; recorded, unless `level` is None."""
    work, record = place / "work", place / "record"
    work.mkdir(parents=True)
    command = [python, str(PROGRAMS / f"{name}.py")]
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(place.parent),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "MALLOC_MMAP_THRESHOLD_": "65536",  # freed tensors leave no holes, whose size is chance
        "PYTHONHASHSEED": "0",  # what torch.jit saves follows the order of sets
        "TORCHINDUCTOR_CACHE_DIR": str(place.parent / "compiled"),
    }
    if level is not None:
        folder.make(record, folder.begun(command, level))
        variables |= start.variables(record, start.RecordingRequest(level=level), variables)
    outputs = place / "stdout", place / "stderr"
    with open(outputs[0], "wb") as stdout, open(outputs[1], "wb") as stderr:
        child = subprocess.Popen(
            command,
            cwd=work,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            preexec_fn=_leave_no_core,
        )
        _pid, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    files = {path.relative_to(work).as_posix(): path for path in work.rglob("*") if path.is_file()}
    seen = SeenRun(
        child.returncode,
        outputs[0].read_text(errors="backslashreplace"),
        {name: path.read_bytes() for name, path in sorted(files.items())},
    )
    return TriedProgram(
        seen,
        outputs[1].read_text(errors="backslashreplace"),
        used.ru_maxrss,
        folder.complaints(record),
        len(folder.streams(record)),
    )


def _leave_no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
