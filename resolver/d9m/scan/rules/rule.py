"""Define a rule: a code, a reason to read, samples, and a check that yields objections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, Protocol, TypeAlias

import msgspec

from d9m.scan.facts import Arms
from d9m.scan.finding import Because, Family, Fix, RelatedSpot, ScanFinding, Severity, Spot
from d9m.scan.project.project import Project

Fixable: TypeAlias = Literal["safe", "unsafe", "no"]


class Objection(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a rule objects to."""

    path: str
    place: Spot
    message: str
    workaround: str = ""
    because: tuple[Because, ...] = ()
    related: tuple[RelatedSpot, ...] = ()
    fix: Fix | None = None


ScanCheck: TypeAlias = Callable[[Project], Iterator[Objection]]


class ScanRule(msgspec.Struct, frozen=True, kw_only=True):
    """One demand on a project. `why`, `silent`, `bad` and `good` are the page of the rule."""

    code: str
    family: Family
    severity: Severity
    title: str
    """The finding, in one line."""
    why: str
    """The problem, and the fix."""
    silent: str = ""
    """When it says nothing."""
    bad: str
    """A file that has the fault."""
    good: str
    """The same without it."""
    sample: str = "train.py"
    """Name of that file."""
    fixable: Fixable = "no"
    check: ScanCheck

    def findings(self, project: Project) -> Iterator[ScanFinding]:
        for found in self.check(project):
            place = found.place
            yield ScanFinding(
                code=self.code,
                family=self.family,
                severity=self.severity,
                path=found.path,
                line=place.line,
                column=place.column,
                end_line=place.end_line or place.line,
                end_column=place.end_column or place.column,
                message=found.message,
                workaround=found.workaround,
                because=list(found.because),
                related=list(found.related),
                fix=found.fix,
            )


class Positioned(Protocol):
    """A statement of a file."""

    @property
    def place(self) -> Spot: ...

    @property
    def scope(self) -> int: ...

    @property
    def arms(self) -> Arms: ...


def because_of(project: Project, name: str, says: str) -> tuple[Because, ...]:
    """The record of a setting."""
    return (Because(f"settings/{project.kb.setting_ids[name]}", says),)
