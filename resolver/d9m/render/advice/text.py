"""The advice for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.model import conditions
from d9m.model.advice import WORST_LAST, Advice, CautionAnswer, OpAnswer, SourceAnswer
from d9m.render import words
from d9m.render.advice import summary, todo
from d9m.render.page import WIDTH, Page, Span

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
    ops = advice.ops if named_ops or everything else _worst(advice.ops)
    _table(page, advice, ops)
    _open_questions(page, ops)
    _watch_out(page, advice, everything)
    _why(page, advice)
    return page


def _worst(ops: Sequence[OpAnswer]) -> list[OpAnswer]:
    """The ops that a reader who named none wants to see: the worst of those that a record speaks of."""
    told = [op for op in ops if op.outcome != "no-known-source"]
    return sorted(told, key=lambda op: -WORST_LAST.index(op.outcome))[:MOST_OPS]


# --- the head --------------------------------------------------------------------


def _headline(page: Page, advice: Advice) -> None:
    style = words.STYLES[advice.outcome]
    line = f"{words.shout(advice.outcome)}  {words.environment(advice)}"
    first, *rest = _wrapped(line, advice)
    page.line(Span(first[: len(words.shout(advice.outcome))], style), first[len(words.shout(advice.outcome)) :])
    for each in rest:
        page.line(each)
    page.paragraph(summary.sentences(advice))
    if advice.scope != "run":
        page.paragraph(f"{words.SCOPES[advice.scope].says} Repeating a run is another question: --scope run.")
    for name in advice.environment.beyond:
        version = advice.environment.packages[name]
        newest = advice.environment.releases[name][-1]
        page.paragraph(f"{name} {version} is newer than {newest}, the newest that anybody looked at for this answer.")


def _wrapped(line: str, advice: Advice) -> list[str]:
    import textwrap

    indent = " " * (len(words.shout(advice.outcome)) + 2)
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


# --- what comes of it ------------------------------------------------------------


def _table(page: Page, advice: Advice, ops: Sequence[OpAnswer]) -> None:
    if not ops:
        return
    rows = [
        ("(no op)" if op.query == "*" else op.query, _outcome(op), _by(op), _directions(op), _fixed(op)) for op in ops
    ]
    page.table(("op", "outcome", "by", "direction", "fixed for good in"), rows, shrink=(4, 0))
    if len(ops) < len(advice.ops):
        page.paragraph(f"and {len(advice.ops) - len(ops)} more: --all", style="dim")
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


def _open_questions(page: Page, ops: Sequence[OpAnswer]) -> None:
    """Each source that is not settled, once, with all the ops that meet it."""
    open_: dict[str, tuple[list[str], SourceAnswer]] = {}
    for op in ops:
        for source in op.sources:
            if source.outcome in ("raises", "unsolved", "unknown"):
                subject = source.id if op.query == "*" else op.query
                open_.setdefault(source.id + str(source.when), ([], source))[0].append(subject)
    for subjects, source in open_.values():
        _open(page, ", ".join(subjects), source)
    page.gap()


def _open(page: Page, subject: str, source: SourceAnswer) -> None:
    bad = conditions.united(each.when for each in source.possible if each.outcome == source.outcome)
    where = f" where {words.clauses(bad)}" if source.when else ""
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
    labels = {each.id: each.label for each in advice.solutions}
    cautions = [_told(each, labels) for each in advice.cautions if each.kind == "caution"]
    disagreements = [docs for op in advice.ops for source in op.sources if (docs := _disagreement(source))]
    told = list(dict.fromkeys([*disagreements, *cautions]))
    most = len(told) if everything else MOST_CAUTIONS
    left = [each.title for each in advice.ingredients if each.optional or not _has_settings(advice, each.id)]
    if told or left:
        page.line(Span("Watch out", "head"))
    for each in told[:most]:
        page.paragraph(each, " !  ")
    if len(told) > most:
        page.paragraph(f"{len(told) - most} more: --all", " !  ")
    if left:
        page.paragraph(f"Still yours: {'; '.join(left)} (d9m list ingredients)", " !  ")
    notes = [_told(each, labels) for each in advice.cautions if each.kind == "note"]
    for each in notes if everything else notes[:2]:
        page.paragraph(each, "", "  ")


def _told(caution: CautionAnswer, labels: dict[str, str]) -> str:
    """A caution under the name of its solution or source; one of an ingredient speaks for itself."""
    subject = f"{labels.get(caution.id, caution.id)}: " if "/" in caution.id else ""
    return subject + caution.text + (f" ({words.clause(caution.when)})" if caution.when else "")


def _has_settings(advice: Advice, ingredient: str) -> bool:
    return any(ingredient in step.solutions for step in advice.steps)


def _disagreement(source: SourceAnswer) -> str | None:
    others = [each for each in source.evidence if not each.follows and each.note]
    if not others:
        return None
    return f"{source.id}: {words.SAYS[others[0].kind]} otherwise: {others[0].note}"


def _why(page: Page, advice: Advice) -> None:
    ids = list(dict.fromkeys(source.id for op in advice.ops for source in op.sources))
    undecided = _undecided(advice)
    if undecided:
        page.paragraph(f"Not decided by what you gave: {'; '.join(undecided[:6])}", "", "  ")
    if ids:
        shown = ", ".join(ids[:8]) + (f" and {len(ids) - 8} more" if len(ids) > 8 else "")
        page.paragraph(f"Why: {shown} · kb {advice.d9m.kb_date}", "", "     ")
        op = next((op.query for op in advice.ops if op.sources and op.query != "*"), ids[0])
        _last(page, f"sources: d9m show {op.partition(':')[0]}", "other formats: --format env|python|json")
    else:
        page.line(f"kb {advice.d9m.kb_date} · other formats: --format env|python|json")


def _last(page: Page, *parts: str) -> None:
    """Where to go from here, on one line if there is room."""
    line = "     " + " · ".join(parts)
    for each in [line] if len(line) <= WIDTH else [f"     {part}" for part in parts]:
        page.line(each)


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
