"""How an answer is derived from records, for whoever wants to check it or to write a second
evaluator.
"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from d9m.model.advice import DEFAULTS_WORST_LAST, REPEATS, WORST_LAST
from d9m.model.records import EVIDENCE_KINDS
from d9m.resolve.merge import ORDER
from d9m.resolve.rules import DEFAULTS
from d9m.resolve.select import MOST_LABELS
from pages import layout

_WORK = {
    "install": "packages to install",
    "unset": "variables to unset",
    "env": "variables to set",
    "append": "items to append",
    "python": "Python statements",
    "flags": "flags",
    "config": "configuration keys",
    "code": "edits in the code",
    "avoid": "what to leave out",
}
"""Kind of a step -> how people call it."""


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    yield layout.page(
        kb,
        "reference/evaluation.md",
        "evaluation.md",
        "Evaluation",
        (
            "How an answer is derived from the records: worlds, conditions, timelines, solutions, "
            "settings, unknown."
        ),
        platforms=sorted(kb.packages[each].title for each in kb.meta.platforms),
        outcomes=WORST_LAST,
        default_order=DEFAULTS_WORST_LAST,
        repeats=REPEATS,
        defaults=DEFAULTS,
        most=MOST_LABELS,
        order=[_WORK[kind] for kind in ORDER],
        kinds=[each for each in reversed(EVIDENCE_KINDS) if each != "assumed"],
    )
