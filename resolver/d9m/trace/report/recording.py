"""The output of `d9m trace` itself: how a recording ended, and what one holds."""

from __future__ import annotations

import shlex
from pathlib import Path

from d9m.errors import printable
from d9m.render.phrases import plural
from d9m.trace import outcomes
from d9m.trace.called_ops import ProgramOps
from d9m.trace.contents import KINDS, RunContents, StreamContents
from d9m.trace.report.sentences import STEP_ENDS

ENDS = {
    "exit": "to its end",
    "steps": "to the last step that was asked for",
    "size": "to its size limit",
    "killed": "until it was killed",
}


def ended(found: RunContents, path: str) -> str:
    """The lines on stderr after the program's own."""
    if found.streams:
        said = f"{_summary(found)} in {path}"
    else:
        said = outcomes.nothing_recorded(Path(path), found.about.exit_code)
    lines = [f"d9m: {each}\n" for each in (printable(said), *found.not_recorded)]
    if found.complaints:
        lines.append(f"d9m: recording was incomplete: {path}/errors.txt says why\n")
    if any(stream.ended == "size" for stream in found.streams):
        lines.append("d9m: recording was incomplete: it reached its size limit (--max-size)\n")
    slow = [stream for stream in found.streams if stream.header.get("digest") == "crc32"]
    if slow and found.about.level == "op":
        lines.append("d9m: recording is several times faster with xxhash: pip install xxhash\n")
    return "".join(lines)


def _summary(found: RunContents) -> str:
    processes = len(found.streams)
    steps = max(stream.steps for stream in found.streams)
    total = sum(stream.bytes for stream in found.streams)
    rules = sorted({stream.step_rule or "" for stream in found.streams} & STEP_ENDS.keys())
    by = f" (each ended by {' or '.join(STEP_ENDS[rule] for rule in rules)})" if rules else ""
    counted = f"{_count(processes, 'process', 'processes')}, {plural(steps, 'step')}"
    return f"{counted}{by}, {size(total)}"


def shown(found: RunContents, path: str) -> str:
    """A page about a recording."""
    about = found.about
    command = shlex.join(about.command) if about.command else "started by hand or by a job"
    lines = [f"{path} · level {about.level} · {about.started}", f"  {command}"]
    if about.exit_code is not None:
        lines.append(f"  {outcomes.run_ending(Path(path), about.exit_code)}")
    for name, value in about.env.items():
        lines.append(f"  {name}={value}")
    for stream in found.streams:
        lines += ["", *_stream(stream)]
    if not found.streams:
        lines += ["", outcomes.nothing_recorded(Path(path), about.exit_code)]
    if found.not_recorded:
        lines += ["", *found.not_recorded]
    if found.complaints:
        lines += ["", "Recording was incomplete:", *(f"  {line}" for line in found.complaints)]
    return "\n".join(lines) + "\n"


def ops(found: ProgramOps) -> str:
    """Lines that `d9m advise --ops @FILE` reads."""
    lines = list(found.items)
    if found.unknown:
        lines.append("# Neither in our records nor in our catalogue of names:")
        lines += [f"# {name}" for name in found.unknown]
    return "\n".join(lines) + "\n"


def _stream(stream: StreamContents) -> list[str]:
    header = stream.header
    packages = ", ".join(f"{name} {version}" for name, version in header["packages"].items())
    place = f"rank {header['rank']} · {packages} · {header['device']}"
    threads = header["threads"]
    if threads is not None:
        place += f" · {plural(threads, 'thread')}"
    known = [letter for letter in stream.counts if letter in KINDS]
    recorded = [_count(stream.counts[letter], *KINDS[letter]) for letter in known]
    return [
        f"{stream.name} · {place} · {header['digest']}",
        f"  {' '.join(header['argv'])}",
        f"  {plural(stream.steps, 'step')}, {ENDS.get(stream.ended, stream.ended)}"
        f" · {size(stream.bytes)}",
        *([f"  {', '.join(recorded)}"] if recorded else []),
    ]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def size(count: int) -> str:
    """Return bytes in a short form, such as 1.2 MB."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"
