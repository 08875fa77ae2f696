"""Solutions by the names that people know: what they call or set, and the label of the record."""

from __future__ import annotations

import re

from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase


def label_of(kb: KnowledgeBase, name: str) -> str:
    """The label of the solution that a name means: ``use_deterministic_algorithms`` -> ``UDA``.

    Raises UsageError for a name that means none, or several.
    """
    found = meant(kb, name)
    if len(found) == 1:
        return found[0]
    if found:
        several = [f"{label} ({kb.solution(label)[1].title})" for label in found]
        raise UsageError(f"{quote(name)} can mean several solutions", allowed=several)
    known = [written(kb, solution.label) for solution in kb.solutions.values()]
    raise UsageError(
        f"there is no solution {quote(name)}",
        nearest=nearest(name, [*known, *(solution.label for solution in kb.solutions.values())]),
        tip="see: d9m list solutions",
    )


def written(kb: KnowledgeBase, label: str) -> str:
    """A solution as a person types it: by its real name where that is one word and means nothing
    else, otherwise by its label.
    """
    title = kb.solution(label)[1].title
    name = _name(title)
    return name if meant(kb, name) == [label] and " " not in name else label


def meant(kb: KnowledgeBase, name: str) -> list[str]:
    """Labels of the solutions that a name fits best: label, id, whole title, its name, and then
    the end of its name.
    """
    lower = name.lower()
    if lower in kb.labels:
        return [kb.solution(lower)[1].label]
    wanted = _name(lower)
    fitting: list[list[str]] = [[], [], []]
    for id_, solution in kb.solutions.items():
        title = solution.title.lower()
        if lower in (id_, title):
            fitting[0].append(solution.label)
        elif wanted == _name(title):
            fitting[1].append(solution.label)
        elif _name(title).endswith(f".{wanted}"):
            fitting[2].append(solution.label)
    return next(filter(None, fitting), list[str]())


def _name(title: str) -> str:
    """``torch.use_deterministic_algorithms`` of ``torch.use_deterministic_algorithms(True)``; a
    title of several words is a name as a whole.
    """
    short = title.replace(" = ", "=")
    return title if " " in short else re.split(r"[=(]", short, maxsplit=1)[0]
