"""How outcomes, releases and conditions read on a page."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Clause, Default, Outcome, Range, When
from d9m.model.versions import FIRST, covers, key, within
from d9m.render import words
from pages.markdown import Markdown, escape

SYMBOLS: dict[str, str] = {
    "no-known-source": "–",
    "deterministic": "✓",
    "solved": "✓",
    "unknown": "?",
    "raises": "!",
    "unsolved": "✗",
    "nondeterministic": "✗",
}

BOXES: dict[Outcome, str] = {
    "no-known-source": "info",
    "deterministic": "success",
    "solved": "success",
    "unknown": "question",
    "raises": "warning",
    "unsolved": "failure",
}
"""Outcome -> Material's box for it."""


def chip(outcome: Outcome | Default) -> Markdown:
    """An outcome as a small label: a symbol, a word and a colour."""
    word = outcome.replace("-", " ")
    return Markdown(f'<span class="md-tag d9m-{outcome}">{SYMBOLS[outcome]} {word}</span>')


def span(bounds: Range, released: Sequence[str]) -> str:
    """Releases between bounds, as people say them: ``2.8 and later``, ``up to 1.13``.

    Of a package whose releases nobody lists only the bounds can be told: ``before 12.0``.
    """
    if not released:
        return _bounded(bounds)
    inside = [each for each in released if within(each, bounds)]
    if not inside or len(inside) == len(released):
        return "all releases" if inside else "no release"
    first = _short(inside[0]) if inside[0] != released[0] else None
    last = _line(inside[-1], released) if inside[-1] != released[-1] else None
    if first is None:
        return f"up to {last}"
    if last is None:
        return f"{first} and later"
    return first if first == last else last if len(inside) == 1 else f"{first} – {last}"


def _bounded(bounds: Range) -> str:
    first = bounds.from_ if bounds.from_ is not None and key(bounds.from_) != FIRST else None
    if bounds.until is None:
        return "all releases" if first is None else f"{first} and later"
    return f"before {bounds.until}" if first is None else f"{first} to before {bounds.until}"


def runs(chosen: Collection[str], released: Sequence[str]) -> list[str]:
    """Spans of releases that follow each other, oldest first."""
    groups = itertools.groupby(released, key=lambda each: each in chosen)
    found = [list(group) for inside, group in groups if inside]
    return [run(each[0], each[-1], released) for each in found]


def run(first: str, last: str, released: Sequence[str]) -> str:
    """From one release to another, both included."""
    after = released[released.index(last) + 1 :]
    return span(Range(from_=first, until=after[0] if after else None), released)


def _short(release: str) -> str:
    """2.10 for 2.10.0: where a span starts, the first of a line stands for the line."""
    return release[: -len(".0")] if release.count(".") == _PATCHED and release.endswith(".0") else release


def _line(release: str, released: Sequence[str]) -> str:
    """2.7 for 2.7.4, if no later patch release came: where a span ends, the last of a line stands for the line."""
    line = release.rpartition(".")[0]
    after = released[released.index(release) + 1]
    return line if release.count(".") == _PATCHED and not covers(line, after) else release


_PATCHED = 2
"""Dots in a release that has a patch number; image tags have one and are never shortened."""


def condition(when: When) -> Markdown:
    """A condition in words; empty for one that always holds."""
    return escape(plain(when))


def where(kb: KnowledgeBase, when: When) -> str:
    """A condition on releases as people say it: ``PyTorch 1.9 and later``; any other one in words."""
    return " or ".join(_where(kb, clause) for clause in (when if isinstance(when, list) else [when]))


def _where(kb: KnowledgeBase, clause: Clause) -> str:
    said: list[str] = []
    rest: Clause = {}
    for name, allowed in clause.items():
        if isinstance(allowed, Range) and name in kb.meta.aliases and kb.releases(name):
            said.append(f"{kb.package(name).title} {span(allowed, kb.releases(name))}")
        else:
            rest[name] = allowed
    return ", ".join([*said, *([f"if {plain(rest)}"] if rest else [])])


def without(clause: Clause, *names: str) -> Clause:
    """A condition less what is said elsewhere."""
    return {name: allowed for name, allowed in clause.items() if name not in names}


def plain(when: When) -> str:
    """A condition in words, not yet Markdown."""
    return words.clauses(when if isinstance(when, list) else [when])
