"""The report card, and a page for each rule of the scan: what it wants, why, bad and good."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from d9m.scan.card_line import LINES
from d9m.scan.report.explain import as_markdown
from d9m.scan.rules.catalogue import RULES
from d9m.scan.rules.rule import ScanRule
from pages import layout
from pages.markdown import Markdown

FAMILIES = {
    "settings": "Do the settings have an effect, and are they right?",
    "seeds": "Is every generator seeded, from something fixed, in time?",
    "order": "Does an unordered source decide the order of samples?",
    "ops": "What does deterministic mode do to these ops in this release?",
    "files": "Job files, and comments that hide findings",
    "program": "What a whole program asks for",
}


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    families: list[tuple[str, list[ScanRule]]] = []
    for family, question in FAMILIES.items():
        found = [rule for rule in RULES if rule.family == family]
        if found:
            families.append((question, found))
    title = "The scan: report card and rules"
    description = "What d9m scan asks of a program, and what it finds in code and job files."
    yield layout.page(
        kb,
        "scan/index.md",
        "scan.md",
        title,
        description,
        families=families,
        lines=LINES,
    )
    for rule in RULES:
        yield layout.page(
            kb,
            f"scan/{rule.code}.md",
            "scan_rule.md",
            f"{rule.title} ({rule.code})",
            rule.title,
            hide=("navigation",),
            weight=0.5,
            rule=rule,
            body=Markdown(as_markdown(rule)),
        )
