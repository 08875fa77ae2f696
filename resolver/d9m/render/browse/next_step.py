"""How to find what still differs: no sentence tells."""

from __future__ import annotations

from d9m.browse.explain import Explained
from d9m.kb.store import KnowledgeBase
from d9m.model.recorded import BY_OP, EXPERIMENTAL
from d9m.render import phrases
from d9m.render.page import Page


def write(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """Write the command that finds the cause in a program of a framework; for a server or a library
    without a recorder, what to compare by hand.
    """
    named = set(explained.packages)
    if explained.subject is not None:
        named.update(explained.subject.advice.environment.packages)
    own = named.difference(kb.meta.platforms)
    if own and not own.intersection((*BY_OP, *EXPERIMENTAL)):
        is_server = all(kb.packages[name].is_server for name in own)
        page.paragraph(
            "To find out whether answers still differ, send one input twice and compare what comes "
            "back: alone, next to other requests, and after a restart."
            if is_server
            else "To find where runs still differ, save the inputs, the settings and the result of "
            "two runs, and compare the files: the first that differs says where to look (d9m show "
            "confirm-it)."
        )
        return
    titles = [EXPERIMENTAL[name] for name in EXPERIMENTAL if name in own]
    mark = f" (experimental for {phrases.join(titles)})" if titles and "torch" not in own else ""
    page.paragraph(
        f"To find what still differs, let d9m run the program twice and compare{mark}, or compare "
        "by hand (d9m show confirm-it):"
    )
    page.line("  d9m hunt -- python train.py")
