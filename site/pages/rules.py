"""A page for each lint rule: what it demands of a record, and why."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.lint import RULES
from d9m.kb.store import KnowledgeBase
from pages import layout


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    title = "Lint rules"
    description = "What d9m kb lint demands of records."
    yield layout.page(kb, "lint/index.md", "rules.md", title, description, ("toc",), rules=RULES)
    for rule in RULES:
        path = f"lint/{rule.code}.md"
        yield layout.page(
            kb,
            path,
            "rule.md",
            f"{rule.title} ({rule.code})",
            rule.why,
            hide=("navigation",),
            weight=0.2,
            rule=rule,
        )
