"""What a rule is: a code, a reason to read, samples, and a check that yields objections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import msgspec

from d9m.scan.finding import (
    Because,
    Confidence,
    Family,
    Fix,
    RelatedSpot,
    ScanFinding,
    Severity,
    Spot,
)
from d9m.scan.project.project import Project

Doubt: TypeAlias = Literal["error", "warning", "hint"]
Fixable: TypeAlias = Literal["safe", "unsafe", "no"]


class Objection(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a rule objects to."""

    path: str
    place: Spot
    message: str
    way_out: str = ""
    severity: Doubt | None = None
    """A hint of an error is none."""
    confidence: Confidence = "sure"
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
    """What it finds, in one line."""
    why: str
    """What goes wrong, and what to do."""
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
            if self.severity == "error" and found.severity == "hint":
                continue
            place = found.place
            yield ScanFinding(
                code=self.code,
                family=self.family,
                severity=self.severity,
                confidence=found.confidence,
                path=found.path,
                line=place.line,
                column=place.column,
                end_line=place.end_line or place.line,
                end_column=place.end_column or place.column,
                message=found.message,
                way_out=found.way_out,
                because=list(found.because),
                related=list(found.related),
                fix=found.fix,
            )
