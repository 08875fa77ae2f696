"""The advice for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.advice import Advice, CautionAnswer, OpAnswer, SolutionAnswer, SourceAnswer
from d9m.records import Scope
from d9m.render import todo, words
from d9m.render.page import Page, Span

MOST_CAUTIONS = 5
"""Warnings, and notes, before a reader stops reading; `--all` shows the rest."""

MOST_ERROR = 110
"""Characters of an error text: enough to recognise it by."""

MOST_OPS = 12
"""Rows of the table when no ops were named; `--all` shows the rest."""


def render(advice: Advice, named_ops: bool = True, everything: bool = False) -> Page:
    """The whole answer. Without named ops only the worst are listed, unless `everything`."""
    page = Page()
    _headline(page, advice)
    todo.steps(page, advice)
    todo.conflicts(page, advice)
    todo.helpers(page, advice)
    todo.existing(page, advice)
    most = len(advice.ops) if named_ops or everything else MOST_OPS
    _table(page, advice, most)
    _open_questions(page, advice, most)
    _watch_out(page, advice, everything)
    _why(page, advice)
    return page


# --- the head --------------------------------------------------------------------


def _headline(page: Page, advice: Advice) -> None:
    style = words.STYLES[advice.outcome]
    line = f"{words.shout(advice.outcome)}  {words.environment(advice)}"
    first, *rest = _wrapped(line, advice)
    page.line(Span(first[: len(words.shout(advice.outcome))], style), first[len(words.shout(advice.outcome)) :])
    for each in rest:
        page.line(each)
    page.paragraph(_summary(advice))
    if advice.scope != "run":
        page.paragraph(f"{words.SCOPES[advice.scope].says} Repeating a run is another question: --scope run.")
    for name in advice.environment.beyond:
        version = advice.environment.packages[name]
        newest = advice.environment.releases[name][-1]
        page.paragraph(f"{name} {version} is newer than {newest}, the newest that anybody looked at for this answer.")


def _wrapped(line: str, advice: Advice) -> list[str]:
    import textwrap

    indent = " " * (len(words.shout(advice.outcome)) + 2)
    return textwrap.wrap(line, 80, subsequent_indent=indent, break_on_hyphens=False)


def _summary(advice: Advice) -> str:
    ops = [op for op in advice.ops if op.query != "*"]
    if not advice.ops:
        return "No op was named that the knowledge base knows here."
    good = [op for op in ops if op.outcome in ("solved", "deterministic", "no-known-source")]
    solved = [op for op in advice.ops if op.outcome == "solved"]
    labels = list(dict.fromkeys(label for op in solved for label in op.solutions))
    parts = [_count(advice.scope, good, ops, labels)] if ops else []
    if not ops and solved:
        parts.append(f"Solved with {words.listed(labels)}.")
    parts += [_included(advice, each) for each in advice.solutions if each.includes]
    raising = [op for op in ops if op.outcome == "raises"]
    if raising:
        parts.append(_raising(advice, raising))
    if advice.conflicts:
        parts.append(f"Not all at once: {words.listed([each.name for each in advice.conflicts])} cannot suit everyone.")
    return " ".join(parts)


def _included(advice: Advice, solution: SolutionAnswer) -> str:
    """What one solution spares the user: all of the others, or some."""
    spared = words.listed(solution.includes)
    if {each.label for each in advice.solutions} <= {solution.label, *solution.includes}:
        return f"{solution.label} alone is enough: it also sets {spared}."
    return f"{solution.label} also sets {spared}."


def _raising(advice: Advice, raising: Sequence[OpAnswer]) -> str:
    switches = dict.fromkeys(source.raised_by for op in raising for source in op.sources if source.raised_by)
    switch = words.listed([each for each in switches if each], "or")
    count = f"{len(raising)} op{'s' * (len(raising) > 1)}"
    if any(solution.label in switches for solution in advice.solutions):
        return f"With {switch} on, {count} stop{'s' * (len(raising) == 1)} the program."
    has = "has" if len(raising) == 1 else "have"
    return f"{count.capitalize()} {has} no cure here: with {switch} on, the program stops."


def _count(scope: Scope, good: Sequence[OpAnswer], ops: Sequence[OpAnswer], labels: Sequence[str]) -> str:
    by = f" with {words.listed(labels)}" if labels else ""
    if not good:
        return "The op is not settled." if len(ops) == 1 else f"None of the {len(ops)} ops is settled."
    if len(good) < len(ops):
        are = "is" if len(good) == 1 else "are"
        return f"{len(good)} of {len(ops)} op{'s' * (len(ops) > 1)} {are} settled{by}."
    if all(op.outcome == "no-known-source" for op in ops):
        return f"No record names {words.SCOPES[scope].source} here. That is not a proof."
    subject = {1: "The op", 2: "Both ops"}.get(len(ops), f"All {len(ops)} ops")
    one, many = words.SCOPES[scope].promise
    return f"{subject} {one if len(ops) == 1 else many}{by or ', with nothing to set'}."


# --- what comes of it ------------------------------------------------------------


def _table(page: Page, advice: Advice, most: int) -> None:
    ops = advice.ops
    if not ops:
        return
    if most < len(ops):
        ops = sorted(ops, key=lambda op: -list(words.STYLES).index(op.outcome))[:most]
    rows = [
        ("(no op)" if op.query == "*" else op.query, _outcome(op), _by(op), _directions(op), _fixed(op)) for op in ops
    ]
    page.table(("op", "outcome", "by", "direction", "fixed for good in"), rows, shrink=4)
    if most < len(advice.ops):
        page.paragraph(f"and {len(advice.ops) - most} more: --all", style="dim")
    page.gap()


def _outcome(op: OpAnswer) -> Span:
    style = words.STYLES[op.outcome]
    return Span(words.shout(op.outcome) if style == "bad" else op.outcome, style)


def _by(op: OpAnswer) -> str:
    if op.outcome == "raises":
        return "-"
    if not op.solutions:
        pending = [source.pending for source in op.sources if source.pending]
        return pending[0] if pending else "-"
    chosen = " + ".join(op.solutions)
    others = {
        " + ".join(labels)
        for source in op.sources
        for labels in source.alternatives
        if not set(labels) & set(op.solutions)
        and all(list(labels) in other.alternatives for other in op.sources if other.alternatives)
    }
    return f"{chosen} (or {words.listed(sorted(others), 'or')})" if others else chosen


def _directions(op: OpAnswer) -> str:
    short = {"forward": "fwd", "backward": "bwd"}
    return ", ".join(
        short[each] for each in ("forward", "backward") if any(each in source.direction for source in op.sources)
    ) or ("-")


def _fixed(op: OpAnswer) -> str:
    if not op.sources or op.query == "*":
        return "-"
    return "none yet" if op.fixed_in is None else ", ".join(op.fixed_in.values())


def _open_questions(page: Page, advice: Advice, most: int) -> None:
    """Each source that is not settled, once, with all the ops that meet it."""
    open_: dict[str, tuple[list[str], SourceAnswer]] = {}
    for op in advice.ops[:most]:
        for source in op.sources:
            if source.outcome in ("raises", "unsolved", "unknown"):
                subject = source.id if op.query == "*" else op.query
                open_.setdefault(source.id + str(source.when), ([], source))[0].append(subject)
    for subjects, source in open_.values():
        _open(page, ", ".join(subjects), source)
    page.gap()


def _open(page: Page, subject: str, source: SourceAnswer) -> None:
    where = f" where {words.clause(source.when)}" if source.when else ""
    page.paragraph(f"{subject}: {source.title}{where}", "", "  ")
    if source.error:
        short = source.error if len(source.error) <= MOST_ERROR else f"{source.error[:MOST_ERROR]}…"
        page.paragraph(f'with {source.raised_by} on: "{short}"', "  ", "  ")
    if source.pending:
        page.paragraph(f"{source.pending}: no solution yet, one was announced", "  ", "  ")
    if source.note:
        page.paragraph(source.note, "  ", "  ")
    if source.last_verified:
        seen = source.last_verified
        by = f" with {words.listed(seen.solutions)}" if seen.solutions else ""
        page.paragraph(f"{seen.release}, the last release looked at: {seen.outcome}{by}", "  ", "  ")
    for package, release in (source.fixed_in or {}).items():
        if source.outcome != "unknown":
            page.paragraph(f"upgrade  {package} >= {release}", "  ", "           ")
    for each in source.workarounds:
        page.paragraph(f"or       {each.text}", "  ", "           ")


def _watch_out(page: Page, advice: Advice, everything: bool) -> None:
    cautions = [_told(each) for each in advice.cautions if each.kind == "caution"]
    disagreements = [docs for op in advice.ops for source in op.sources if (docs := _disagreement(source))]
    told = list(dict.fromkeys([*disagreements, *cautions]))
    most = len(told) if everything else MOST_CAUTIONS
    if told:
        page.line(Span("Watch out", "head"))
    for each in told[:most]:
        page.paragraph(each, " !  ")
    if len(told) > most:
        page.paragraph(f"{len(told) - most} more: --all", " !  ")
    left = [each.title for each in advice.ingredients if each.optional or not _has_settings(advice, each.id)]
    if left:
        page.paragraph(f"Still yours: {'; '.join(left)} (d9m list ingredients)", " !  ")
    notes = [_told(each) for each in advice.cautions if each.kind == "note"]
    for each in notes if everything else notes[:2]:
        page.paragraph(each, "", "  ")


def _told(caution: CautionAnswer) -> str:
    return f"{caution.text} ({words.clause(caution.when)})" if caution.when else caution.text


def _has_settings(advice: Advice, ingredient: str) -> bool:
    return any(ingredient in step.solutions for step in advice.steps)


def _disagreement(source: SourceAnswer) -> str | None:
    others = [each for each in source.evidence if not each.follows and each.note]
    if not others:
        return None
    return f"{source.id}: {others[0].kind.replace('documented', 'the docs')} say otherwise: {others[0].note}"


def _why(page: Page, advice: Advice) -> None:
    ids = list(dict.fromkeys(source.id for op in advice.ops for source in op.sources))
    undecided = _undecided(advice)
    if undecided:
        page.paragraph(f"Not decided by what you gave: {'; '.join(undecided[:6])}", "", "  ")
    if ids:
        shown = ", ".join(ids[:8]) + (f" and {len(ids) - 8} more" if len(ids) > 8 else "")
        page.paragraph(f"Why: {shown} · kb {advice.d9m.kb_date}", "", "     ")
        op = next((op.query for op in advice.ops if op.sources and op.query != "*"), ids[0])
        page.line(f"     sources: d9m show {op.partition(':')[0]} · other formats: --format env|python|json")
    else:
        page.line(f"kb {advice.d9m.kb_date} · other formats: --format env|python|json")


def _undecided(advice: Advice) -> list[str]:
    """Conditions that would change the answer, each once."""
    of_ops = dict.fromkeys(
        words.clause(possible.when)
        for op in advice.ops
        for source in op.sources
        for possible in source.possible
        if possible.outcome != source.outcome
    )
    of_steps = dict.fromkeys(words.clauses(step.when) for step in advice.steps if step.when)
    return [*of_ops, *(each for each in of_steps if each not in of_ops)]
