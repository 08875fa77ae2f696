"""The answer of a scan. Field names are those of its JSON."""

from __future__ import annotations

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.model.advice import Tool
from d9m.scan.card_line import CardCheck
from d9m.scan.finding import ScanFinding
from d9m.scan.surroundings.surrounding import How


class ScannedPackage(msgspec.Struct, frozen=True):
    version: str | None
    from_: str = msgspec.field(name="from", default="")
    how: How = "assumed"
    title: str = ""


class ScannedEnvironment(msgspec.Struct, frozen=True):
    paths: list[str]
    packages: dict[str, ScannedPackage]
    device: str
    assumed: list[str] = []


class ScannedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """The report card of a program."""

    path: str
    files: list[str]
    """Those that it reaches, itself included."""
    packages: dict[str, ScannedPackage]
    """Its frameworks; without any, its libraries."""
    device: str
    device_from: str = ""
    """Empty: assumed."""
    launcher: str = ""
    ranks: str = ""
    """``?`` where a launcher starts it and the text does not say how often."""
    jobs: list[str] = []
    """Where job files start it: ``job.slurm:9``."""
    checks: list[CardCheck]


class UnreadableFile(msgspec.Struct, frozen=True):
    path: str
    why: str
    needed: bool = False
    """Whether the answer is incomplete without it: it was named, a program imports it, a job runs
    it, or nothing else was read.
    """


class FilesRead(msgspec.Struct, frozen=True):
    read: int
    unreadable: list[UnreadableFile] = []


class Scanned(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int = SCHEMA_VERSION
    d9m: Tool
    root: str
    environments: list[ScannedEnvironment]
    programs: list[ScannedProgram]
    findings: list[ScanFinding]
    """All of them, before ignores and the baseline."""
    files: FilesRead
