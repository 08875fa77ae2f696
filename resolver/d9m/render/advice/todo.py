"""What a person has to do, at a terminal: settings, conflicts, calls, what is set already."""

from __future__ import annotations

from typing import get_args

from d9m.model.advice import Advice, Existing, HelperAnswer
from d9m.model.records import EvidenceKind
from d9m.model.settings import Conflict, Step
from d9m.render import words
from d9m.render.advice.program import imports, program_steps
from d9m.render.advice.step import line
from d9m.render.page import Page, Span, Style

MOST_HELPERS = 2
"""Calls that would help, before a reader has to choose; JSON has all."""

LEAST_COVERED = 2
"""Settings that make a call shorter than what it stands for."""

MOST_LEFT = 4
"""Settings that a call leaves, by name; of more, their number says enough."""

_TITLES = {
    "install": "Install, in the environment that runs the program",
    "shell": "Shell, before Python starts",
    "python": "Top of the program, before the first layer, graph or CUDA call",
    "flags": "Command line",
    "config": "Configuration",
    "code": "In the code",
    "avoid": "Leave out",
}

_GROUP = {"unset": "shell", "env": "shell", "append": "shell"}


def steps(page: Page, advice: Advice) -> None:
    groups: dict[str, list[Step]] = {}
    for step in advice.steps:
        groups.setdefault(_GROUP.get(step.kind, step.kind), []).append(step)
    page.gap()
    for number, (group, members) in enumerate(groups.items(), start=1):
        page.line(f"{number}  {_TITLES[group]}")
        if group == "python":
            for each in imports([step for step in members if step.covered_by is None]):
                page.commented(each, None)
            members = program_steps(members)
        said: str | None = None
        for step in members:
            comment = _comment(step)
            repeated = comment == said and step.covered_by is None
            page.commented(line(step), None if repeated else comment)
            said = comment
    page.gap()


def _comment(step: Step) -> str | None:
    if step.covered_by is not None:
        return f"done by {words.short(step.covered_by)}"
    note = step.why if step.kind == "avoid" else step.note
    if step.when is None:
        return note
    condition = f"if {words.clauses(step.when)}"
    return f"{condition}: {note}" if note else condition


def conflicts(page: Page, advice: Advice) -> None:
    for conflict in advice.conflicts:
        page.line(Span("CONFLICT", "bad"), f"  {conflict.name}: {words.listed(conflict.between)} disagree")
        _choices(page, conflict)
    for conflict in advice.scope_conflicts:
        page.line(Span("NOT BOTH", "doubt"), f"  {conflict.name}: --scope {conflict.scope} would ask for another value")
        _choices(page, conflict)
    page.gap()


def _choices(page: Page, conflict: Conflict) -> None:
    for choice, cost in zip(conflict.choices, conflict.costs):
        page.paragraph(choice, "     ", "       ")
        page.paragraph(cost, "       ", "       ", "dim")


def helpers(page: Page, advice: Advice) -> None:
    used = [each for each in advice.helpers if each.used]
    for each in used:
        page.paragraph(_told(each), "", "  ")
        for other in each.differs:
            where = f" (does it where {words.clauses(other.when)})" if other.when else ""
            page.paragraph(f"{other.name}: {other.why}{where}", "  ", "    ")
    if used:
        left = [step.name for step in advice.steps if step.covered_by is None]
        page.paragraph(
            f"Still to do: {words.listed(list(dict.fromkeys(left)))}." if left else "Nothing is left.", "", "  "
        )
    shorter = [each for each in advice.helpers if not used and len(each.covers) >= LEAST_COVERED]
    for each in shorter[:MOST_HELPERS]:
        names = words.listed(each.leaves) if len(each.leaves) <= MOST_LEFT else f"{len(each.leaves)} settings"
        left = f"; leaves {names}" if each.leaves else ""
        page.paragraph(f"Shorter: {each.call} covers {words.listed(each.covers)}{left}.", "", "  ")
    page.gap()


def _told(helper: HelperAnswer) -> str:
    if not helper.covers:
        return f"You call {helper.call}: it covers nothing of this."
    return f"You call {helper.call}: it covers {words.listed(helper.covers)}."


MOST_VALUE = 40
"""Characters of a value that is already set; whoever set it knows the rest."""


def existing(page: Page, advice: Advice) -> None:
    if advice.existing:
        page.line(Span("Already set", "head"))
    for each in advice.existing:
        value = each.value if len(each.value) <= MOST_VALUE else f"{each.value[:MOST_VALUE]}…"
        style = _VERDICTS[each.status]
        page.line(Span(f"{each.status:<13}", style), f"  {each.name}={value}")
        page.paragraph(f"{each.why}{_proof(each)}", "               ")
    if advice.missing:
        page.paragraph(", ".join(advice.missing), "missing        ")
    page.gap()


_VERDICTS: dict[str, Style] = {
    "needed": "good", "harmless": "", "no-effect": "doubt", "contradictory": "bad", "forbidden": "bad", "invalid": "bad"
}  # fmt: skip


def _proof(existing: Existing) -> str:
    """Who says so: the strongest evidence that says something."""
    saying = [each for each in existing.evidence if each.follows and (each.note or each.where)]
    told = max(saying, key=lambda each: _STRENGTH.index(each.kind), default=None)
    return f" ({told.kind}: {(told.note or told.where or '').rstrip('.')})" if told else ""


_STRENGTH: tuple[EvidenceKind, ...] = get_args(EvidenceKind)
