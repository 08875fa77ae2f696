"""Recordings written by hand: two runs in one text, read like a diff.

A line that begins with `A` or `B` is of that run alone, any other is of both. Streams of several
ranks are parted by a line `--- r1-0`. A header and the tail are added where a text leaves them out.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

import output_schema
from d9m.trace import folder
from d9m.trace.comparison import Wanted, compare
from d9m.trace.findings import Findings
from d9m.trace.inject._d9m_recorder.core import seals

HEADER = {
    "d9m_trace": seals.FORMAT, "level": "op", "inputs": "exact", "digest": "xxh3-64", "rank": 0,
    "process": 0, "argv": ["train.py"], "python": "3.11.7", "packages": {"torch": "2.13.0+cpu"},
    "device": "cpu", "threads": 8, "hashseed": None, "env": {},
    "deterministic": {"torch.use_deterministic_algorithms": False},
}  # fmt: skip


def recordings(path: Path, text: str, **header: object) -> tuple[Path, Path]:
    """The folders of both runs."""
    for run in "AB":
        streams: dict[str, list[str]] = {"r0-0": []}
        name = "r0-0"
        for line in text.strip().splitlines():
            line = line.strip()
            if line.startswith("---"):
                name = line.split()[1]
                streams[name] = []
            elif line[:2] in ("A ", "B "):
                if line[0] == run:
                    streams[name].append(line[2:].strip())
            elif line and not line.startswith("#"):
                streams[name].append(line)
        write(path / run, streams, header)
    return path / "A", path / "B"


def write(run: Path, streams: dict[str, list[str]], header: dict[str, object]) -> None:
    folder.make(run, folder.begun(["python", "train.py"], "op"))
    for name, lines in streams.items():
        rank, process = (int(number) for number in name[1:].split("-"))
        begin = {**HEADER, "rank": rank, "process": process, **header}
        if not lines or not lines[0].startswith("{"):
            lines = [json.dumps(begin), *lines]
        else:
            lines = [json.dumps({**begin, **json.loads(lines[0])}), *lines[1:]]
        if lines[-1] == "killed":
            lines = lines[:-1]
        elif not lines[-1].startswith("{"):
            lines = [*lines, '{"ended": "exit"}']
        (run / f"{name}.d9m").write_bytes(sealed(*lines))


def sealed(*lines: str) -> bytes:
    """Lines as a recorder writes them."""
    return b"".join(seals.line(line) for line in lines)


def opened(file: Path) -> list[str]:
    """The lines of a stream, without their seals."""
    return [line.rpartition(" ")[0] for line in file.read_text().splitlines()]


def ended(
    run: Path,
    code: int | None,
    *,
    stopped: bool = False,
    error: str | None = None,
    launcher: bool = False,
    fault: str | None = None,
    **made: object,
) -> None:
    """Say of a recording how its program ended, by which exception, of a `launcher` that imports no
    framework, and what the recorder could not do. `made`: what d9m had set for it.
    """
    about = msgspec.structs.replace(folder.about(run), exit_code=code, stopped=stopped, **made)
    folder.write_about(run, about)
    if error is not None:
        event = {"process": 1, "error": error, "file": "train.py", "line": 9}
        events = [event] if launcher else [{"process": 1, "imported": "torch"}, event]
        (run / folder.PROCESSES).write_bytes(b"".join(sealed(json.dumps(each)) for each in events))
    if fault is not None:
        (run / folder.ERRORS).write_bytes(sealed(f"process 1: gradients: {fault}"))


def compared(path: Path, text: str, wanted: Wanted | None = None, **header: object) -> Findings:
    found = compare(*recordings(path, text, **header), "2026-11-22", wanted or Wanted())
    assert not output_schema.faults(msgspec.to_builtins(found), ["diff"])
    return found


def kinds(found: Findings) -> list[str]:
    return [cause.kind for cause in found.causes]
