"""An explanation for a person at a terminal."""

from __future__ import annotations

from d9m.browse.explain import Explained
from d9m.kb.store import KnowledgeBase
from d9m.render import phrases
from d9m.render.browse.show import history_table
from d9m.render.page import WIDTH, Page, Span


def render(kb: KnowledgeBase, explained: Explained, width: int = WIDTH) -> Page:
    page = Page(width)
    for each in explained.found:
        page.line(Span(each.title, "head"), f"  {each.kind}, line {each.line}")
        page.paragraph(f'"{each.text}"', "  ", "  ", "dim")
        for name, value in each.parts.items():
            page.paragraph(f"{name}: {value}", "  ", "    ")
        if each.releases:
            page.paragraph(f"printed {phrases.conditions(kb, each.releases)}", "  ", "    ")
        page.gap()
        page.paragraph(each.advice)
        for history in each.history:
            history_table(page, kb, history, titled=True)
        if each.ops:
            page.paragraph(f"ops: {', '.join(each.ops)}", "", "  ")
        page.paragraph(
            f"Source: errors/{each.id} · knowledge base of {explained.d9m.kb_date}", "", "  "
        )
        page.gap()
    return page
