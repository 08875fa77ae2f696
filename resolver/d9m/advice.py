"""The types of an answer. Field names are those of the JSON, version 1."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from d9m.query import Direction
from d9m.records import Clause, Default, EvidenceKind, Outcome

SCHEMA_VERSION = 1

WORST_LAST: tuple[Outcome, ...] = ("no-known-source", "deterministic", "solved", "unknown", "raises", "unsolved")
"""Outcomes, best to worst."""

DEFAULTS_WORST_LAST: tuple[Default, ...] = ("deterministic", "unknown", "raises", "nondeterministic")

Kind = Literal["env", "append", "unset", "python", "flags", "config", "install", "code", "avoid"]
"""Which part of the settings a step belongs to."""


class Tool(msgspec.Struct, frozen=True):
    version: str
    kb_date: str


class Surroundings(msgspec.Struct, frozen=True):
    """The environment as the answer echoes it."""

    packages: dict[str, str]
    releases: dict[str, list[str]]
    container: str | None
    device: str
    facts: dict[str, str]
    assumed: list[str]
    beyond: list[str] = []
    """Packages newer than every release known."""
    between: list[str] = []
    """Packages in a build that lies between two releases."""


class Edit(msgspec.Struct, frozen=True):
    """A change at a call site."""

    where: str
    change: str


class Avoided(msgspec.Struct, frozen=True):
    kind: str
    name: str
    why: str


class Settings(msgspec.Struct, frozen=True):
    """Merged and free of contradictions, by kind. Python statements follow the imports that they need."""

    env: dict[str, str] = {}
    append: dict[str, list[str]] = {}
    unset: list[str] = []
    python: list[str] = []
    flags: list[str] = []
    config: dict[str, Any] = {}
    install: list[str] = []
    code: list[Edit] = []
    avoid: list[Avoided] = []


class Step(msgspec.Struct, frozen=True):
    """One setting, in the order in which a person would make them."""

    kind: Kind
    name: str
    value: str | None
    read_at: str
    when: list[Clause] | None
    """Where it is needed, if what was given does not decide it."""
    why: str
    solutions: list[str]
    """Labels of the solutions (or ids of the ingredients) that ask for it."""
    accepts: list[str] = []
    """Every value that would do, the chosen one included."""
    free: bool = False
    """`value` is a suggestion: any other fixed one does as well, but for those that it refuses."""
    refuses: list[str] = []
    imports: list[str] = []
    before_import: bool = False
    separator: str | None = None
    text: str | None = None
    """The line to write where that is not plain from name and value."""
    where: str | None = None
    """For ``code``: the call to edit."""
    value_type: Literal["string", "integer", "boolean"] = "string"
    setting_kind: str = "env"
    note: str | None = None
    """Half a line for the reader; `why` always says something."""

    def satisfied_by(self, value: str) -> bool:
        """Whether a value that is already set would do."""
        if self.kind == "append":
            return set(self.accepts) <= set(value.split(self.separator))
        if self.free:
            return bool(value) and value not in self.refuses
        return not self.accepts or value in self.accepts


class Conflict(msgspec.Struct, frozen=True):
    name: str
    between: list[str]
    choices: list[str]


class Possible(msgspec.Struct, frozen=True):
    """One answer, and what would have to hold for it."""

    when: Clause
    outcome: Outcome
    solutions: list[str]
    default: Default = "unknown"
    note: str | None = None
    raised_by: str | None = None


class Told(msgspec.Struct, frozen=True):
    """Evidence as an answer shows it."""

    kind: EvidenceKind
    url: str | None
    note: str | None
    follows: bool
    where: str | None = None
    date: str | None = None


class Reference(msgspec.Struct, frozen=True):
    id: str
    url: str


class Work(msgspec.Struct, frozen=True):
    """A work-around."""

    text: str


class Price(msgspec.Struct, frozen=True):
    text: str
    factor: str | None = None


class LastVerified(msgspec.Struct, frozen=True):
    """The answer for the newest release that somebody looked at."""

    release: str
    outcome: Outcome
    solutions: list[str]


class SourceAnswer(msgspec.Struct, frozen=True):
    id: str
    title: str
    summary: str
    outcome: Outcome
    default: Default
    direction: list[Direction]
    device: list[str]
    when: Clause
    """What would have to hold for `outcome`; empty where it is certain."""
    possible: list[Possible]
    solutions: list[str]
    alternatives: list[list[str]]
    raised_by: str | None
    error: str | None
    fixed_in: dict[str, str] | None
    """Home package -> first release from which every later known one is settled; null: none."""
    pending: str | None
    note: str | None
    last_verified: LastVerified | None
    workarounds: list[Work]
    costs: list[Price]
    evidence: list[Told]
    references: list[Reference]


class OpAnswer(msgspec.Struct, frozen=True):
    query: str
    names: list[str]
    outcome: Outcome
    default: Default
    solutions: list[str]
    fixed_in: dict[str, str] | None
    sources: list[SourceAnswer]


class SolutionAnswer(msgspec.Struct, frozen=True):
    id: str
    label: str
    title: str
    covers: list[str]
    includes: list[str]
    """Labels of solutions that it turns on by itself."""
    settings: Settings
    evidence: list[Told] = []


class Example(msgspec.Struct, frozen=True):
    """Code to copy."""

    language: str
    code: str
    note: str | None = None


class IngredientAnswer(msgspec.Struct, frozen=True):
    id: str
    title: str
    summary: str
    optional: bool
    settings: Settings
    examples: list[Example] = []


class CautionAnswer(msgspec.Struct, frozen=True):
    id: str
    text: str
    when: Clause
    kind: Literal["caution", "note"] = "caution"


class Existing(msgspec.Struct, frozen=True):
    """A setting that is already made, judged against the advice."""

    name: str
    value: str
    status: Literal["needed", "harmless", "no-effect", "contradictory", "forbidden", "invalid"]
    why: str


class Unknown(msgspec.Struct, frozen=True):
    subject: str
    needs: str


class Advice(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    environment: Surroundings
    outcome: Outcome
    settings: Settings
    steps: list[Step]
    conflicts: list[Conflict]
    solutions: list[SolutionAnswer]
    ops: list[OpAnswer]
    ingredients: list[IngredientAnswer]
    cautions: list[CautionAnswer]
    unknowns: list[Unknown]
    existing: list[Existing] = []
    """Settings found in an env file or the process environment."""


def exit_code(advice: Advice, allow_unknown: bool = False) -> int:
    """0, 1 or 3 of the table of exit codes. Findings win over unknown."""
    if advice.conflicts or any(op.outcome in ("raises", "unsolved") for op in advice.ops):
        return 1
    return 3 if not allow_unknown and (advice.unknowns or advice.outcome == "unknown") else 0
