"""Frameworks next to each other: what the ops do that several of them know by one name."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import msgspec

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import OpAnswer
from d9m.model.op_syntax import plain
from pages import grid, layout, versions


class ComparedOp(msgspec.Struct, frozen=True):
    """One name, and what it does in each framework."""

    name: str
    answers: tuple[tuple[OpAnswer, str] | None, ...]
    """The answer and what decides it, framework by framework; None: no op of that name."""

    @property
    def is_recorded(self) -> bool:
        """Whether a record speaks of it in one of them."""
        return any(found and found[0].sources for found in self.answers)


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    frameworks = [
        (name, kb.packages[name].title, kb.releases(name)[-1]) for name in versions.frameworks(kb)
    ]
    title = "Frameworks compared"
    names = ", ".join(title for _name, title, _newest in frameworks)
    description = f"Which ops are deterministic in {names}, side by side, in their newest releases."
    yield layout.page(
        kb,
        "compare.md",
        "comparison.md",
        title,
        description,
        hide=("navigation", "toc"),
        weight=2,
        frameworks=frameworks,
        rows=_rows(kb, [(name, newest) for name, _title, newest in frameworks]),
    )


def _rows(kb: KnowledgeBase, frameworks: list[tuple[str, str]]) -> list[ComparedOp]:
    """Names that several frameworks have, and of which one of them has a record."""
    known = [_names(kb, package) for package, _newest in frameworks]
    times = Counter(itertools.chain.from_iterable(known))
    answers: list[dict[str, tuple[OpAnswer, str]]] = []
    for (package, newest), names in zip(frameworks, known):
        shared = {last: name for last, name in names.items() if times[last] > 1}
        answers.append(_answers(kb, package, newest, shared))
    rows: list[ComparedOp] = []
    for name in sorted(times):
        row = ComparedOp(name, tuple(found.get(name) for found in answers))
        if times[name] > 1 and row.is_recorded:
            rows.append(row)
    return rows


def _names(kb: KnowledgeBase, package: str) -> dict[str, str]:
    """Last part of a name -> the shortest name that ends so; messages and signs left out."""
    found: dict[str, str] = {}
    for place in kb.ops:
        home, _colon, name = place.partition(":")
        last = plain(name).rpartition(".")[2]
        if (
            home == package
            and not kb.ops[place].is_message
            and last[:1].isalpha()
            and last.isidentifier()
        ):
            found[last] = min(found.get(last, name), name, key=len)
    return found


def _answers(
    kb: KnowledgeBase, package: str, newest: str, names: dict[str, str]
) -> dict[str, tuple[OpAnswer, str]]:
    advice = advise(kb, Setup(((package, newest),)), list(names.values()))
    answered = {op.query: op for op in advice.ops}
    found: dict[str, tuple[OpAnswer, str]] = {}
    for last, name in names.items():
        if name in answered:
            found[last] = (answered[name], grid.branches(kb, answered[name]))
    return found
