"""The types of an answer. Field names are those of the JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from d9m import exit_codes
from d9m.errors import ExitCode
from d9m.exit_codes import CommandResult
from d9m.model.op_syntax import Direction
from d9m.model.records import Default, EvidenceKind, Outcome, RecordedOutcome, Scope
from d9m.model.settings import Conflict, Settings, Step
from d9m.model.when import Clause

NEVER_DIFFERS: tuple[RecordedOutcome, ...] = ("no-known-source", "deterministic")
"""Outcomes that need no settings."""

REPEATS: tuple[RecordedOutcome, ...] = (*NEVER_DIFFERS, "solved")
"""Outcomes that all mean: the same bits in every run, with the advised settings."""

WORST_LAST: tuple[Outcome, ...] = (*REPEATS, "depends", "unknown", "raises", "unsolved")
"""Outcomes, best to worst."""

DEFAULTS_WORST_LAST: tuple[Default, ...] = (
    "deterministic",
    "unknown",
    "raises",
    "nondeterministic",
)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of several things that all happen.

    >>> worst(["solved", "raises", "depends"])
    'raises'
    """
    return max(outcomes, key=WORST_LAST.index)


WITHOUT_SETTINGS: dict[Default, RecordedOutcome] = {
    "deterministic": "deterministic",
    "nondeterministic": "unsolved",
    "raises": "raises",
    "unknown": "unknown",
}
"""Behaviour of a call with nothing set -> its outcome where nothing may be set."""


def worst_default(defaults: Iterable[Default]) -> Default:
    """The worst of what several things do with nothing set."""
    return max(defaults, key=DEFAULTS_WORST_LAST.index)


def joined(outcomes: Iterable[RecordedOutcome]) -> Outcome:
    """Return the outcome of an answer where one of several things happens, and the question leaves
    open which.

    >>> joined(["deterministic", "solved"]), joined(["solved", "raises"])
    ('solved', 'depends')
    """
    found = set(outcomes)
    return worst(found) if len(found) == 1 or found.issubset(REPEATS) else "depends"


class Tool(msgspec.Struct, frozen=True):
    version: str
    kb_date: str


class Surroundings(msgspec.Struct, frozen=True):
    """The environment as the answer echoes it."""

    packages: dict[str, str]
    """Package -> version as given or found; `any` where none was named."""
    releases: dict[str, list[str]]
    """Package -> the releases that the version stands for."""
    container: str | None
    """The image as it was named."""
    device: str
    facts: dict[str, str]
    """Given ones, and those whose default had a part in the answer."""
    assumed: list[str]
    """Facts that have their default, and packages that a wheel ships."""
    beyond: list[str] = []
    """Packages newer than every release known."""
    between: list[str] = []
    """Packages in a build that lies between two releases."""
    moving: list[str] = []
    """Packages taken to be the newest release, since the tag of their image names none."""
    gpu: str | None = None
    """The GPU model, if it was named."""
    ignored: int = 0
    """Packages that a file lists and that d9m does not know."""


class Possible(msgspec.Struct, frozen=True):
    """One answer, and what would have to hold for it."""

    when: Clause
    outcome: RecordedOutcome
    solutions: list[str]
    default: Default = "unknown"
    note: str | None = None
    raised_by: str | None = None
    decide: list[str] = []
    """Additions to the question that make this answer certain: an op item, or an option with its
    value.
    """


class Otherwise(msgspec.Struct, frozen=True):
    """A worse answer, where something that was taken for granted does not hold."""

    when: Clause
    outcome: Outcome
    decide: list[str]
    direction: list[Direction] = []
    """The passes that are worse."""
    default: Default = "unknown"
    """The behaviour there with nothing set, where the call `raises`."""
    raised_by: str | None = None
    """The switch that refuses the call there."""
    workarounds: list[Work] = []
    """Workarounds that are needed there, and not here."""
    is_frequent: bool = False
    """Whether many programs are so."""


class Citation(msgspec.Struct, frozen=True):
    """Evidence as an answer shows it."""

    kind: EvidenceKind
    url: str | None
    note: str | None
    follows: bool
    where: str | None = None
    date: str | None = None
    """When it was published."""
    read: str | None = None
    """When we read it: a page without a date may have changed since."""


class Reference(msgspec.Struct, frozen=True):
    id: str
    url: str


class Work(msgspec.Struct, frozen=True):
    """A work-around."""

    text: str
    steps: list[Step] = []
    """The steps that set it."""


class Price(msgspec.Struct, frozen=True):
    text: str
    factor: str | None = None


class LastVerified(msgspec.Struct, frozen=True):
    """The answer for the newest release that was checked."""

    release: str
    outcome: Outcome
    solutions: list[str]


class SourceAnswer(msgspec.Struct, frozen=True):
    id: str
    title: str
    summary: str
    scope: Scope
    outcome: Outcome
    """With the advised settings; `depends` where what was not said allows others than those that
    all repeat.
    """
    default: Default
    """With nothing set, at worst."""
    direction: list[Direction]
    device: list[str]
    when: Clause
    """Conditions of `outcome`; empty where it is certain, and where it depends."""
    possible: list[Possible]
    """Every answer, with what would lead to it, and nothing left out: what most programs get, then
    best to worst.
    """
    otherwise: list[Otherwise]
    """Worse answers for other arguments than the API's defaults, and for other facts than those
    assumed.
    """
    solutions: list[str]
    """Those of the chosen solutions that solve it."""
    alternatives: list[list[str]]
    """Every set of solutions that would do, preferred first."""
    raised_by: str | None
    """The switch with which the call stops, or only warns where `outcome` is another one."""
    error: str | None
    """The text of the error, as these releases word it."""
    fixed_in: dict[str, str] | None
    """Home package -> first release from which every later known one repeats; null: none."""
    fixed_with: list[str]
    """Solutions to set in that release."""
    note: str | None
    last_verified: LastVerified | None
    workarounds: list[Work]
    costs: list[Price]
    evidence: list[Citation]
    references: list[Reference]


class OpAnswer(msgspec.Struct, frozen=True):
    query: str
    """The item as it was asked; `*` for sources that belong to no op. Their outcome is
    `deterministic` only where the whole package was reviewed.
    """
    names: list[str]
    """The ops that it means."""
    outcome: Outcome
    """The worst of its sources'. Without any, under any value of the assumed facts:
    no-known-source.
    """
    default: Default
    solutions: list[str]
    fixed_in: dict[str, str] | None
    otherwise: list[Otherwise]
    """Outcomes worse than `outcome` for any of its sources, worst first."""
    sources: list[SourceAnswer]
    note: str | None = None
    could_mean: list[str] = []
    """Other ops of the same bare name that differ from it."""
    error: str | None = None
    """Why the item could not be asked: there is no op of this name here."""
    nearest: list[str] = []
    """Names that may have been meant instead."""
    without_mode: Outcome | None = None
    """The outcome without the deterministic mode, of an op that raises an error in it."""


class ModeChoice(msgspec.Struct, frozen=True):
    """The cost of a deterministic mode that some ops need and others refuse, on or off."""

    mode: Literal["on", "off"]
    solutions: list[str]
    """Labels of the mode."""
    raises: list[str]
    """Queries of the ops that raise an error."""
    nondeterministic: list[str]
    """Queries of the ops whose results differ between runs, or may."""


class SolutionAnswer(msgspec.Struct, frozen=True):
    id: str
    label: str
    title: str
    covers: list[str]
    """Ids of the sources that it helps to remove."""
    includes: list[str]
    """Labels of solutions that it turns on automatically."""
    settings: Settings
    evidence: list[Citation] = []
    costs: list[Price] = []


class ExampleCode(msgspec.Struct, frozen=True):
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
    examples: list[ExampleCode] = []


class CautionAnswer(msgspec.Struct, frozen=True):
    id: str
    text: str
    when: Clause
    kind: Literal["caution", "note"] = "caution"


class Existing(msgspec.Struct, frozen=True):
    """A setting that is already made, judged against the advice."""

    name: str
    value: str
    status: Literal[
        "needed",
        "harmless",
        "no-effect",
        "contradictory",
        "forbidden",
        "invalid",
        "misspelt",
        "unknown",
    ]
    why: str
    evidence: list[Citation] = []
    """The citations for the verdict, where it rests on a record about the setting."""


FAULTS = ("misspelt", "invalid", "forbidden", "contradictory")
"""Verdicts on a setting that are findings."""


class Difference(msgspec.Struct, frozen=True):
    """An advised setting that a helper makes, but not so that it counts."""

    name: str
    sets: str | None
    """The value that the helper sets; null: it unsets, or the value is the user's."""
    why: str
    when: list[Clause] = []
    """Where the helper does what is advised; none: nowhere."""


class HelperAnswer(msgspec.Struct, frozen=True):
    """A call that sets things on the user's behalf, held against the advice."""

    id: str
    call: str
    used: bool
    """Whether the user makes this call (`--calls`); otherwise it is only one that would help."""
    covers: list[str]
    """Advised settings that it makes, surely and in time."""
    leaves: list[str]
    """Advised settings that are still to be made."""
    differs: list[Difference]
    overwrites: list[str]
    """Settings that it replaces even where the user has set another value."""
    evidence: list[Citation]
    turns_on: list[str] = []
    """Labels of the switches that it turns on, among those with which an op of the answer raises an
    error.
    """
    warns: bool = False
    """With it, an op that would raise an error only warns, and is nondeterministic."""


class Unknown(msgspec.Struct, frozen=True):
    subject: str
    needs: str


class Advice(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    environment: Surroundings
    scope: Scope
    outcome: Outcome
    """The worst of the ops'."""
    settings: Settings
    """All steps together, by kind; what is in conflict is left out."""
    steps: list[Step]
    """The same one by one, in the order in which a person makes them."""
    conflicts: list[Conflict]
    scope_conflicts: list[Conflict]
    """Where these settings contradict those that another scope asks of the same packages: no
    finding.
    """
    helpers: list[HelperAnswer]
    """Calls that the user makes; without any, those that would cover the most, best first."""
    solutions: list[SolutionAnswer]
    ops: list[OpAnswer]
    """One for every item, in the order given."""
    ingredients: list[IngredientAnswer]
    """Needs of the program in addition to the settings of its ops."""
    cautions: list[CautionAnswer]
    """Cautions with their conditions; defaults are not taken for granted."""
    unknowns: list[Unknown]
    """Claims that are not verified, and what would settle them."""
    choices: list[ModeChoice] = []
    """The deterministic mode on, as the steps have it, then off; none where no op refuses it."""
    existing: list[Existing] = []
    """Settings found in an env file or the process environment."""
    missing: list[str] = []
    """Advised settings that the place allows, and that are not set."""
    known_sources: dict[str, dict[Outcome, int]] = {}
    """Package -> outcome -> known causes in it; the rest of such a package is unreviewed."""

    def sources(self) -> dict[str, SourceAnswer]:
        """The sources of all ops, by id."""
        found: dict[str, SourceAnswer] = {}
        for op in self.ops:
            for source in op.sources:
                found[source.id] = source
        return found


def exit_code(advice: Advice, *, allow_unknown: bool = False, exit_zero: bool = False) -> ExitCode:
    """Return how `advise` ends: a setting that is missing or against the advice is a finding."""
    outcomes = {op.outcome for op in advice.ops}
    is_against = any(made.status in FAULTS for made in advice.existing)
    is_bad = bool(advice.missing or advice.conflicts) or bool(outcomes & {"raises", "unsolved"})
    is_open = bool(advice.unknowns) or bool(outcomes & {"depends", "unknown"})
    result = CommandResult(
        has_usage_errors=any(op.error is not None for op in advice.ops),
        has_findings=is_against or is_bad,
        is_incomplete=is_open,
    )
    return exit_codes.exit_code(result, allow_unknown=allow_unknown, exit_zero=exit_zero)
