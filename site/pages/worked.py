"""A worked answer: a question about ops that differ most, answered as the command line answers."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.kb.store import KnowledgeBase
from d9m.render.advice import render
from d9m.render.interface import Answer
from d9m.render.page import Page
from pages import heatmap
from pages.grid import Grid

WIDTH = 66
"""Columns of the answer."""


class WorkedAnswer(msgspec.Struct, frozen=True):
    question: str
    """In words."""
    address: str
    """What asks the advisor the same."""
    text: str
    """The verdict, the ops and the settings; notes stand in the full answer."""


def worked(kb: KnowledgeBase, table: Grid) -> WorkedAnswer:
    """The question is taken from the rows of the picture, so that it shows what can happen."""
    release = table.lines[-1].newest
    ops = heatmap.examples(heatmap.heat_rows(table))
    advice = advise(kb, Setup(((table.package, release),), device=table.device), ops)
    body = render("text", Answer(advice, kb, width=WIDTH)).body
    text = body.plain() if isinstance(body, Page) else body
    shown = text.partition("\nNotes\n")[0].strip()
    names = ", ".join(op.rpartition(".")[2] for op in ops)
    title = kb.packages[table.package].title
    asked = quote(",".join(ops), safe=",[]=")
    return WorkedAnswer(
        f"{title} {release}: {names}", f"?{table.package}={release}&ops={asked}", shown
    )
