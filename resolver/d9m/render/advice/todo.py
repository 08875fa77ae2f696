"""Things to do: settings, conflicts, calls, and what is set already."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.model.advice import Existing, HelperAnswer
from d9m.model.records import EVIDENCE_KINDS
from d9m.model.settings import Conflict, Step
from d9m.render import phrases
from d9m.render.advice import remedy
from d9m.render.advice.blocks import mode_choice, only
from d9m.render.advice.program import imports, program_steps
from d9m.render.advice.step import line
from d9m.render.advice.verdict import seeds_first
from d9m.render.interface import Answer
from d9m.render.page import Page, Span, Style
from d9m.render.words import EVIDENCE

MOST_HELPERS = 2
"""Calls that would help, before a reader has to choose; JSON has all."""

MOST_LEFT = 4
"""Settings that a suggested call leaves, and that its line names."""

LEAST_COVERED = 2
"""Settings that make a call shorter than what it stands for."""

TITLES = {
    "install": "Install, in the environment that runs the program",
    "shell": "Shell, before Python starts",
    "python": "Top of the program",
    "flags": "Command line",
    "config": "Configuration",
    "code": "In the code",
    "avoid": "Leave out",
}
"""Group of steps -> the title of its block."""

_GROUP = {"unset": "shell", "env": "shell", "append": "shell"}


def settings(page: Page, answer: Answer) -> None:
    """Write what to leave out, then what to set, in the order of the work, in lines to copy;
    without what is set already, and what a call of the user's makes.
    """
    advice = answer.advice
    groups: dict[str, list[Step]] = {}
    for step in remedy.left_to_set(answer):
        groups.setdefault(_GROUP.get(step.kind, step.kind), []).append(step)
    is_set = remedy.already_set(advice) or any(step.covered_by for step in advice.steps)
    if not groups and is_set:
        page.line("Nothing is left to set.")
    for group, members in sorted(groups.items(), key=lambda item: item[0] != "avoid"):
        page.gap()
        page.line(Span(TITLES[group], "head"))
        if group == "python":
            for statement in imports(members):
                page.commented(statement, None)
            members = program_steps(members)
        last: str | None = None
        place: str | None = None
        for step in seeds_first(members) if group == "code" else members:
            comment = _comment(answer, step)
            shown = None if comment == last else comment
            if step.kind != "code" or step.where is None:
                page.commented(line(step), shown)
            else:
                if step.where != place:
                    page.line(f"  {step.where}:")
                page.commented(step.text or step.value or "", shown, "    ")
                place = step.where
            last = comment
    page.gap()


def _comment(answer: Answer, step: Step) -> str | None:
    if step.kind == "avoid" and step.why:
        return step.why  # it does harm wherever the settings are needed
    where = only(answer, step)
    return f"needed {where}; {step.note}" if where and step.note else where or step.note


def conflicts(page: Page, answer: Answer) -> None:
    """Settings that several want turned differently, with what each choice costs; those that
    another scope would turn differently with `--all`.
    """
    for conflict in answer.advice.conflicts:
        page.marked(Span("✗", "bad"), "", f"{conflict.name}: choose one")
        _choices(page, conflict, answer.everything)
    if answer.advice.choices and (answer.named_ops or answer.everything):
        page.paragraph(f"Choose: {mode_choice(answer.advice)}.", "", "  ")
    for conflict in answer.advice.scope_conflicts if answer.everything else ():
        needs = f"{conflict.name}: --scope {conflict.scope} needs another value"
        page.marked(Span("!", "doubt"), "", needs)
        _choices(page, conflict, answer.everything)
    page.gap()


def _choices(page: Page, conflict: Conflict, everything: bool) -> None:
    for way, cost in zip(conflict.choices, conflict.costs):
        page.paragraph(way, "      → ", "        ")
        shown = cost if everything else cost.partition(". Cost: ")[0]
        page.paragraph(shown, "        ", style="dim")


def helpers(page: Page, answer: Answer) -> None:
    """Write what the user's own calls do; without any, the calls that cover most settings."""
    used = [helper for helper in answer.advice.helpers if helper.used]
    for helper in used:
        _used(page, answer, helper)
    if not used:
        _suggest(page, answer, _worth_a_line(answer.advice.helpers))
    page.gap()


def _used(page: Page, answer: Answer, helper: HelperAnswer) -> None:
    page.line(Span(helper.call, "head"))
    for step in answer.advice.steps:
        if step.covered_by == helper.call:
            page.marked(Span("✓", "good"), "", line(step))
    reasons: dict[str, list[str]] = {}
    for difference in helper.differs:
        where = phrases.conditions(answer.kb, difference.when)
        reason = f"{difference.why} (only {where})" if where else difference.why
        reasons.setdefault(reason, []).append(difference.name)
    for reason, names in reasons.items():
        page.marked(Span("✗", "bad"), "", f"{', '.join(names)}: {reason}")
    if any(helper.call in conflict.between for conflict in answer.advice.conflicts):
        page.marked(Span("✗", "bad"), "", "in conflict: choose above")
    elif helper.turns_on and not helper.covers:
        does = "warns" if helper.warns else "raises an error"
        page.marked(Span("!", "doubt"), "", f"with it an op above {does}")
    elif not helper.covers and not helper.differs:
        page.marked(Span("–"), "", "sets nothing that is needed here")


def _worth_a_line(helpers: Sequence[HelperAnswer]) -> list[HelperAnswer]:
    """The calls that make most settings, each with some that those before it leave out."""
    chosen: list[HelperAnswer] = []
    made: set[str] = set()
    for helper in helpers:
        if len(chosen) < MOST_HELPERS and len(set(helper.covers) - made) >= LEAST_COVERED:
            chosen.append(helper)
            made.update(helper.covers)
    return chosen


def _suggest(page: Page, answer: Answer, helpers: Sequence[HelperAnswer]) -> None:
    """Write what each of some calls sets, and what all of them leave."""
    made = set[str]().union(*(helper.covers for helper in helpers))
    open_ = [step for step in answer.advice.steps if step.covered_by is None]
    left = list(dict.fromkeys(step.name for step in open_ if step.name not in made))
    named = phrases.join(left) if len(left) <= MOST_LEFT else f"{len(left)} settings"
    for helper in helpers:
        called = helper.call.partition("(")[0]
        sets = phrases.join([name for name in helper.covers if name != called])
        leaves = f", and leaves {named} to you" if left and len(helpers) == 1 else ""
        warns = " It asks for warnings only: what would raise an error goes on."
        page.paragraph(
            f"In one call: {helper.call} sets {sets}{leaves}.{_elsewhere(answer, helper)}"
            f"{warns if helper.warns else ''}",
            "",
            "  ",
        )
    if left and len(helpers) > 1:
        page.paragraph(f"Together they leave {named} to you.")


def _elsewhere(answer: Answer, helper: HelperAnswer) -> str:
    """The argument of a trainer or of a command line that makes the call."""
    name = _called(helper.call)
    others = [alias for alias in answer.kb.helpers[helper.id].aliases if _called(alias) != name]
    return f" {phrases.join(others, 'or')} does the same." if others else ""


def _called(call: str) -> str:
    """The last part of the name that is called."""
    return call.partition("(")[0].rpartition(".")[2]


MOST_VALUE = 40
"""Characters of a value that is already set."""


def existing(page: Page, answer: Answer) -> None:
    """Settings that are already made, faults first, and those that are missing."""
    advice = answer.advice
    if not advice.existing and not advice.missing:
        return
    page.line(Span("Your settings", "head"))
    there = {made.name for made in advice.existing}
    absent = [name for name in advice.missing if name not in there]
    if absent:
        page.marked(Span("✗", "bad"), f"{'missing':<15}", ", ".join(absent))
    judged = [made for made in advice.existing if made.status != "unknown"]
    for made in sorted(judged, key=lambda made: list(_VERDICTS).index(made.status)):
        value = made.value if len(made.value) <= MOST_VALUE else f"{made.value[:MOST_VALUE]}…"
        sign, style, word = _VERDICTS[made.status]
        if made.name in advice.missing and made.status in ("needed", "harmless"):
            sign, style, word = "✗", "bad", "incomplete"
        page.marked(Span(sign, style), f"{word:<15}", f"{made.name}={value}")
        page.paragraph(f"{made.why}{_proof(made)}", " " * 19)
    unknown = [made.name for made in advice.existing if made.status == "unknown"]
    if unknown:
        shown = unknown if answer.everything else _related(answer, unknown)[:MOST_UNKNOWN]
        more = len(unknown) - len(shown)
        names = phrases.join([*shown, *([f"{more} more (--all)"] if more else [])])
        page.marked(Span("–", ""), f"{'no record':<15}", f"of {names}")
    page.gap()


MOST_UNKNOWN = 6
"""Names of variables without a record that an answer shows."""


def _related(answer: Answer, names: Sequence[str]) -> list[str]:
    """Return names in order, first those that begin with the first word of a known variable."""
    known = {name.partition("_")[0] for name in answer.kb.settings if "_" in name}
    return sorted(names, key=lambda name: "_" not in name or name.partition("_")[0] not in known)


_VERDICTS: dict[str, tuple[str, Style, str]] = {
    "misspelt": ("✗", "bad", "misspelt"),
    "invalid": ("✗", "bad", "invalid"),
    "forbidden": ("✗", "bad", "remove it"),
    "contradictory": ("✗", "bad", "change it"),
    "no-effect": ("!", "doubt", "has no effect"),
    "needed": ("✓", "good", "ok"),
    "harmless": ("–", "", "harmless"),
}
"""Status -> sign, style, and the word for a reader, worst first."""


def _proof(made: Existing) -> str:
    """Return the strongest evidence that says something."""
    saying = [told for told in made.evidence if told.follows and (told.note or told.where)]
    strongest = max(saying, key=lambda told: EVIDENCE_KINDS.index(told.kind), default=None)
    if strongest is None:
        return ""
    what = (strongest.note or strongest.where or "").rstrip(".")
    return f" (seen {EVIDENCE[strongest.kind].seen}: {what})"
