"""Whoever reads a file of somebody else's reads no more than it may hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from d9m import files
from d9m.errors import DataError

RESOLVER = Path(__file__).parents[1] / "resolver" / "d9m"

WHOLE = {
    "authoring/collect/kernels.py": "members of an archive, whose sizes are added up first",
    "check/plan/catalogue.py": "files of the package",
    "check/workers/launch.py": "a file of the package",
    "check/workers/process.py": "/proc, which the kernel bounds",
    "check/workers/worker.py": "/proc, which the kernel bounds",
    "environment/interpreter.py": "a file of the package",
    "environment/survey.py": "/proc and cgroups, which the kernel bounds",
    "run/inside.py": "/proc, which the kernel bounds",
    "trace/inject/_d9m_recorder/core/header.py": "/proc, which the kernel bounds",
    "trace/inject/call_again.py": "values that the same process is to hold, and what d9m sends it",
}
"""Modules that read something whole by themselves, and why that needs no limit."""


def test_only_these_modules_read_a_file_without_a_limit() -> None:
    found: set[str] = set()
    for path in RESOLVER.rglob("*.py"):
        if re.search(r"\.read_bytes\(|\.read_text\(\"|(?<!\))\.read\(\)", path.read_text()):
            found.add(path.relative_to(RESOLVER).as_posix())
    assert found == WHOLE.keys()


def test_a_device_without_an_end_is_refused() -> None:
    with pytest.raises(DataError, match="larger than 1 MiB"):
        files.content("/dev/zero", most=1 << 20)


def test_what_is_damaged_is_told_from_what_is_broken() -> None:
    import msgspec

    for damaged in (b"{", b"[" * 100_000, b'"\xff"'):
        with pytest.raises(files.UNREADABLE):
            msgspec.json.decode(damaged)
