"""The answer of a scan. Field names are those of its JSON."""

from __future__ import annotations

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.model.advice import Tool
from d9m.scan.finding import ScanFinding
from d9m.scan.project.project import Goal
from d9m.scan.surroundings.surrounding import How


class ScannedPackage(msgspec.Struct, frozen=True):
    version: str | None
    from_: str = msgspec.field(name="from", default="")
    how: How = "assumed"


class ScannedEnvironment(msgspec.Struct, frozen=True):
    paths: list[str]
    packages: dict[str, ScannedPackage]
    device: str
    assumed: list[str] = []


class SwitchPlace(msgspec.Struct, frozen=True):
    path: str
    line: int
    name: str


class ScannedProgram(msgspec.Struct, frozen=True):
    path: str
    files: int
    seeds: list[str]
    draws: list[str]
    switches: list[SwitchPlace]
    wants: str
    """What it asks for itself: nothing, seeded, repeatable."""


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
    goal: Goal
    environments: list[ScannedEnvironment]
    programs: list[ScannedProgram]
    findings: list[ScanFinding]
    """All of them, hints included; before ignores and the baseline."""
    files: FilesRead
