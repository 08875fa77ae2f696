"""How outcomes, releases and conditions read on a page."""

from __future__ import annotations

from d9m.browse.spans import run as run
from d9m.browse.spans import runs as runs
from d9m.browse.spans import span as span
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Default, Outcome
from d9m.model.when import Clause, Range, When, clauses
from d9m.render.phrases import conditions
from pages.markdown import Markdown, escape

SYMBOLS: dict[str, str] = {
    "no-known-source": "–",
    "deterministic": "✓",
    "solved": "✓",
    "depends": "◐",
    "unknown": "?",
    "raises": "!",
    "unsolved": "✗",
    "nondeterministic": "✗",
}

WORDS: dict[str | None, str] = {
    "no-known-source": "no known nondeterminism",
    "deterministic": "deterministic",
    "solved": "deterministic with settings",
    "depends": "depends",
    "unknown": "not verified",
    "raises": "raises an error",
    "unsolved": "nondeterministic",
    "nondeterministic": "nondeterministic",
    None: "no known nondeterminism here",
}
"""An outcome as people say it."""

READ: dict[str, str] = {
    "process-start": "the start of the process",
    "import": "the import",
    "first-use": "the first use",
    "per-call": "each call",
    "build": "the build",
    "install": "the installation",
}
"""When a setting is read, as people say it."""

BOXES: dict[Outcome, str] = {
    "no-known-source": "info",
    "deterministic": "success",
    "solved": "success",
    "depends": "question",
    "unknown": "question",
    "raises": "warning",
    "unsolved": "failure",
}
"""Outcome -> Material's box for it."""


def chip(outcome: Outcome | Default) -> Markdown:
    """An outcome as a small label: a symbol, words and a colour."""
    return Markdown(
        f'<span class="md-tag d9m-{outcome}">{SYMBOLS[outcome]} {WORDS[outcome]}</span>'
    )


def condition(kb: KnowledgeBase, when: When) -> Markdown:
    """A condition in words; empty for one that always holds."""
    return escape(plain(kb, when))


def capital(text: str) -> Markdown:
    """Half a sentence as the beginning of one."""
    return Markdown(text[:1].upper() + text[1:])


def where(kb: KnowledgeBase, when: When) -> str:
    """A condition on releases as people say it: ``PyTorch 1.9 and later``; any other one in
    words.
    """
    return " or ".join(_where(kb, clause) for clause in clauses(when))


def _where(kb: KnowledgeBase, clause: Clause) -> str:
    said: list[str] = []
    rest: Clause = {}
    for name, allowed in clause.items():
        if isinstance(allowed, Range) and name in kb.meta.aliases and kb.releases(name):
            said.append(f"{kb.packages[name].title} {span(allowed, kb.releases(name))}")
        else:
            rest[name] = allowed
    return ", ".join([*said, *([plain(kb, rest)] if rest else [])])


def without(clause: Clause, *names: str) -> Clause:
    """A condition less what is said elsewhere."""
    return {name: allowed for name, allowed in clause.items() if name not in names}


def plain(kb: KnowledgeBase, when: When) -> str:
    """A condition in words, not yet Markdown."""
    return conditions(kb, clauses(when))
