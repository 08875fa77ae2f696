"""Findings as one self-contained page, for a colleague, an issue or an artifact."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

import msgspec

from d9m.render.phrases import plural
from d9m.trace.findings import Cause, Descendant, Findings
from d9m.trace.inject._d9m_recorder.core import private
from d9m.trace.report import sentences, text, verdict
from d9m.trace.report.text import FindingsView

NEAR = 8
"""Steps that are shown at each end, and on each side of the first difference."""
AROUND = 3
"""Lines that are shown on each side of a cause's."""
NEWLINE = "\n"

STYLE = """
:root { color-scheme: light dark; --line: #8888; }
:root { --good: #1a7f37; --bad: #b3261e; --doubt: #8a6100; }
@media (prefers-color-scheme: dark) {
  :root { --good: #6fdd8b; --bad: #ff8a80; --doubt: #f0c040; }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; border-left: .35rem solid; padding-left: .75rem; }
h1.good { border-color: var(--good); } h1.bad { border-color: var(--bad); }
h1.doubt { border-color: var(--doubt); }
h2 { font-size: 1.15rem; margin-top: 2rem; }
h3 { font-size: 1rem; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
pre { border: 1px solid var(--line); border-radius: .3rem; overflow-x: auto; padding: .75rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
ul.tree, ul.tree ul { list-style: none; margin: 0; padding-left: 1.1rem; }
ul.tree { border-left: 1px solid var(--line); } .aside { opacity: .75; }
summary { cursor: pointer; padding: .15rem 0; }
ol.steps { display: flex; flex-wrap: wrap; gap: .25rem; list-style: none; padding: 0; }
ol.steps li { border: 1px solid var(--line); border-radius: .2rem; border-top: .3rem solid;
  min-width: 2rem; padding: 0 .4rem; text-align: center; font-variant-numeric: tabular-nums; }
li.equal { border-top-color: var(--good) !important; }
li.after { border-top-color: var(--doubt) !important; }
li.first { background: var(--bad); border-color: var(--bad) !important; color: Canvas; }
mark { background: none; color: var(--bad); font-weight: 600; }
td, th { padding: .1rem 1rem .1rem 0; text-align: left; }
"""


def render(view: FindingsView) -> str:
    found = view.findings
    headline = escape(verdict.sentences(found))
    parts = [
        f'<h1 class="{verdict.style(found)}">{headline}</h1>',
        f'<p class="aside">{escape(" · ".join(text.machine(view)))}</p>',
    ]
    parts += step_row(found)
    for number, cause in enumerate(found.causes, 1):
        parts += _cause(view, number, cause)
    for head, ops in text.closer(found):
        parts.append(f"<h2>{escape(head)}</h2>")
        for cause in ops:
            parts += _block(view, cause)
    if found.harmless:
        parts.append("<h2>Differences that reach nothing that is learned</h2>")
        parts.append(_list(_harmless(view)))
    notes = text.notes(found)
    if notes:
        parts.append("<h2>Notes</h2>")
        parts.append(_list(escape(note) for note in notes))
    parts.append(f'<p class="aside">{escape(text.extent(found))}</p>')
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{headline}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def step_row(found: Findings) -> Iterator[str]:
    """Yield a row of the steps that were compared; of many, those at the ends and near the first
    difference.
    """
    stage = next((stage for stage in found.stages if stage.steps is not None), None)
    steps = found.steps if stage is None else stage.steps
    first = found.first.step if found.first is not None else None
    if steps is None or (first is None and not found.same):
        return
    numbers = {
        *range(steps.first, steps.last + 1, steps.every),
        *([] if first is None else [first]),
    }
    shown = sorted(numbers)
    center = shown.index(first) if first is not None else 0
    near = range(center - NEAR, center + NEAR + 1)
    cells: list[str] = []
    for place, step in enumerate(shown):
        if place in near or place < NEAR or place >= len(shown) - NEAR:
            kind = "equal" if first is None or step < first else "after"
            kind, title = (
                ("first", "the first difference") if step == first else (kind, _KINDS[kind])
            )
            cells.append(f'<li class="{kind}" title="{title}">{step}</li>')
        elif cells[-1] != _GAP:
            cells.append(_GAP)
    what = "all are equal" if first is None else f"the first difference is in step {first}"
    yield f'<ol class="steps" aria-label="Steps: {what}">{"".join(cells)}</ol>'


_KINDS = {"equal": "equal", "after": "after the first difference"}
_GAP = "<li>…</li>"


def _excerpt(view: FindingsView, cause: Cause) -> Iterator[str]:
    """Yield the program's lines round a cause, if the hunt runs where they are."""
    for place in [cause.source, *cause.callers] if view.findings.stages else []:
        try:
            lines = Path(place.file).read_text(encoding="utf-8").splitlines() if place else []
        except (OSError, UnicodeDecodeError):
            continue
        if place is None or place.line > len(lines):
            continue
        begin = max(place.line - 1 - AROUND, 0)
        shown = [
            f"{number:>5}  {escape(private.masked_text(line))}"
            for number, line in enumerate(lines[begin : place.line + AROUND], begin + 1)
        ]
        shown[place.line - 1 - begin] = f"<mark>{shown[place.line - 1 - begin]}</mark>"
        yield f"<pre>{NEWLINE.join(shown)}</pre>"
        return


def _sizes(cause: Cause) -> Iterator[str]:
    """Yield how large the difference is: both values, or what calls of the op alone gave."""
    if cause.a is not None or cause.b is not None:
        values = (escape(value or "not set") for value in (cause.a, cause.b))
        rows = [f"<tr><th>run {run}</th><td>{value}</td></tr>" for run, value in zip("AB", values)]
        yield f"<table>{''.join(rows)}</table>"
    replay = cause.replay
    if replay is not None and replay.changed:
        meter = f'<meter value="{replay.changed:.4f}"></meter>'
        ulp = "" if replay.max_ulp is None else f", up to {replay.max_ulp} ulp"
        yield f"<p>{meter} {text.share(replay.changed)} of the elements differ{ulp}</p>"


def _harmless(view: FindingsView) -> Iterator[str]:
    for cause in view.findings.harmless:
        where = sentences.place(cause)
        place = f" <code>{escape(where)}</code>" if where else ""
        yield escape(sentences.sentence(view.findings, cause)) + place


def _cause(view: FindingsView, number: int, cause: Cause) -> Iterator[str]:
    if len(view.findings.causes) > 1:
        yield f"<h2>{number}. {escape(sentences.sentence(view.findings, cause))}</h2>"
    yield from _block(view, cause)


def _block(view: FindingsView, cause: Cause) -> Iterator[str]:
    yield "<dl>"
    for name, said in text.facts(view, cause):
        yield f"<dt>{escape(name)}</dt><dd>{escape(said)}</dd>"
    yield "</dl>"
    yield from _sizes(cause)
    yield from _excerpt(view, cause)
    fix = textwrap.dedent("\n".join(text.fix(view, cause))).strip()
    if fix:
        yield f"<pre>{escape(fix)}</pre>"
    if cause.descendants:
        yield from _tree(cause)


class _Branch(msgspec.Struct):
    """A module of the program, with what differs in it."""

    modules: dict[str, _Branch] = {}
    descendants: list[Descendant] = []

    @property
    def count(self) -> int:
        inside = sum(branch.count for branch in self.modules.values())
        return inside + sum(descendant.count for descendant in self.descendants)


def _tree(cause: Cause) -> Iterator[str]:
    """Yield what differs because of it, by module."""
    root = _Branch()
    for descendant in cause.descendants:
        branch = root
        for name in (descendant.module or "").split(".") if descendant.module else ():
            branch = branch.modules.setdefault(name, _Branch())
        branch.descendants.append(descendant)
    rest = cause.inherited - root.count
    summary = f"<summary>{sentences.later_ops(cause.inherited)} because of it</summary>"
    yield f'<details>{summary}\n<ul class="tree">\n{_inside(root)}</ul>'
    if rest > 0:
        yield f'<p class="aside">{sentences.later_ops(rest)} in other places or on other ranks.</p>'
    yield "</details>"


def _inside(branch: _Branch) -> str:
    lines = [f"<li>{_descendant(descendant)}</li>\n" for descendant in branch.descendants]
    for name, inner in branch.modules.items():
        summary = (
            f'<code>{escape(name)}</code> <span class="aside">{plural(inner.count, "op")}</span>'
        )
        lines.append(
            f'<li><details open=""><summary>{summary}</summary>\n'
            f"<ul>\n{_inside(inner)}</ul></details></li>\n"
        )
    return "".join(lines)


def _descendant(descendant: Descendant) -> str:
    said = (
        [f"from step {descendant.step} on"] if descendant.count > 1 else [f"step {descendant.step}"]
    )
    phase = sentences.PHASES.get(descendant.phase)
    if phase is not None:
        said.append(phase)
    if descendant.source is not None:
        said.append(f"{descendant.source.file}:{descendant.source.line}")
    times = f" × {descendant.count}" if descendant.count > 1 else ""
    aside = escape(", ".join(said))
    return f'<code>{escape(descendant.op)}</code>{times} <span class="aside">{aside}</span>'


def _list(items: Iterable[str]) -> str:
    return "<ul>\n" + "".join(f"<li>{item}</li>\n" for item in items) + "</ul>"
