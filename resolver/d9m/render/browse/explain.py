"""An explanation for a person at a terminal."""

from __future__ import annotations

from d9m.browse.explain import Explained
from d9m.render import words
from d9m.render.browse.show import history_table
from d9m.render.page import Page, Span


def render(explained: Explained) -> Page:
    page = Page()
    for each in explained.found:
        page.line(Span(each.title, "head"), f"  {each.kind}, line {each.line}")
        page.paragraph(f'"{each.text}"', "  ", "  ", "dim")
        for name, value in each.parts.items():
            page.paragraph(f"{name}: {value}", "  ", "    ")
        if each.releases:
            page.paragraph(f"worded so in {words.clauses(each.releases)}", "  ", "    ")
        page.gap()
        page.paragraph(each.advice)
        for history in each.history:
            history_table(page, history, titled=True)
        if each.ops:
            page.paragraph(f"ops: {', '.join(each.ops)}", "", "  ")
        page.paragraph(f"Why: errors/{each.id} · kb {explained.d9m.kb_date}", "", "  ")
        page.gap()
    return page
