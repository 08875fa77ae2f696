"""From the text of a job file to its facts."""

from __future__ import annotations

import re
from collections.abc import Callable

from d9m.scan.facts import FileFacts, FileKind
from d9m.scan.file_kinds import Kind
from d9m.scan.jobs.docker import read_dockerfile
from d9m.scan.jobs.make import read_makefile
from d9m.scan.jobs.pairs import read_env, read_launch_json
from d9m.scan.jobs.shell import Job, read_shell
from d9m.scan.jobs.yaml import dotted_values, read_yaml, seed_line

_READERS: dict[Kind, tuple[Callable[[str], Job], FileKind]] = {
    "shell": (read_shell, "shell"),
    "dockerfile": (read_dockerfile, "docker"),
    "yaml": (read_yaml, "yaml"),
    "env": (read_env, "env"),
    "makefile": (read_makefile, "other"),
    "launch": (read_launch_json, "other"),
}

LONGEST_LINE = 20_000
"""Characters of a line that is read; longer ones hold data."""


def read_job(path: str, kind: Kind, text: str) -> FileFacts | None:
    """The facts of a job file; None for a file that is none."""
    if kind == "packages" and re.search(r"^variables:", text, re.MULTILINE):  # conda
        kind = "yaml"
    if kind not in _READERS:
        return None
    reader, facts_kind = _READERS[kind]
    lines = text.split("\n")
    if any(len(line) > LONGEST_LINE for line in lines):
        text = "\n".join(line if len(line) <= LONGEST_LINE else "" for line in lines)
    job = reader(text.replace("\r", " "))
    return FileFacts(
        path=path,
        kind=facts_kind,
        variables=job.variables,
        launches=job.launches,
        sourced=job.sourced,
        named=dotted_values(text) if kind == "yaml" else (),
        seed_line=seed_line(text) if kind == "yaml" else 0,
    )
