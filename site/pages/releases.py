"""A page for each line of releases of a framework: what it changed for determinism."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from d9m.advice import WORST_LAST, OpAnswer
from d9m.kb.tables import KnowledgeBase
from d9m.records import PullRequest
from d9m.versions import covers
from pages import grid, layout, recipes
from pages.grid import Line

DEVICE = "cuda"
"""What the pages are about; the status tables have the others."""


class Change(msgspec.Struct, frozen=True):
    """Ops that changed in the same way."""

    ops: tuple[str, ...]
    before: OpAnswer | None
    """None: not there, or nothing known met it."""
    after: OpAnswer | None

    @property
    def worse(self) -> bool:
        return _badness(self.after) > _badness(self.before)


def _badness(op: OpAnswer | None) -> int:
    return WORST_LAST.index(op.outcome) if op else -1


def path(package: str, line: str) -> str:
    return f"releases/{package}/{line}.md"


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    for package in sorted(kb.meta.prefixes):
        every = grid.lines(kb, package)
        if grid.grids(kb, package):
            for place, line in enumerate(every):
                yield _page(kb, package, every, place, line)


def _page(kb: KnowledgeBase, package: str, every: Sequence[Line], place: int, line: Line) -> tuple[str, str]:
    name = kb.package(package).title
    earlier = every[place - 1] if place else None
    later = every[place + 1] if place + 1 < len(every) else None
    advice = grid.answer(kb, package, line.newest, DEVICE)
    return layout.page(
        kb,
        path(package, line.name),
        "release.md",
        f"{name} {line.name}",
        f"What {name} {line.name} changed for determinism, and what to set there.",
        hide=("navigation",),
        name=package,
        package=kb.package(package),
        line=line,
        releases=[(each, kb.package(package).releases[each]) for each in line.releases],
        earlier=earlier,
        later=later,
        changes=changes(kb, package, earlier, line) if earlier else [],
        blocks=list(recipes.as_blocks(advice.steps)),
        bad=[each for each in _met(kb, package, line).values() if each.outcome in ("unsolved", "raises", "unknown")],
        pulls=_pulls(kb, package, line),
    )


def _met(kb: KnowledgeBase, package: str, line: Line) -> dict[str, OpAnswer]:
    answer = grid.answer(kb, package, line.newest, DEVICE)
    return {op.query: op for op in answer.ops if op.sources and op.query != "*"}


def changes(kb: KnowledgeBase, package: str, earlier: Line, later: Line) -> list[Change]:
    """What the newest of two lines answer differently, what got worse first."""
    before, after = _met(kb, package, earlier), _met(kb, package, later)
    found = [
        (op, before.get(op), after.get(op))
        for op in sorted({*before, *after}, key=str.lower)
        if _answer(before.get(op)) != _answer(after.get(op))
    ]
    found.sort(key=lambda each: (_answer(each[1]), _answer(each[2])))
    groups = itertools.groupby(found, key=lambda each: (_answer(each[1]), _answer(each[2])))
    joined = [[*group] for _answers, group in groups]
    several = [Change(tuple(op for op, _one, _two in group), *group[0][1:]) for group in joined]
    return sorted(several, key=lambda each: (not each.worse, each.ops))


def _answer(op: OpAnswer | None) -> tuple[str, ...]:
    return (op.outcome, op.default, *op.solutions) if op else ()


def _pulls(kb: KnowledgeBase, package: str, line: Line) -> list[tuple[str, PullRequest]]:
    """Pull requests that came with one of these releases."""
    repository = kb.package(package).folder or package
    found: list[tuple[str, PullRequest]] = [(id_, kb.get("pull_requests", id_)) for id_ in kb.keys("pull_requests")]
    return [
        (id_, pull)
        for id_, pull in found
        if pull.version and covers(line.name, pull.version) and pull.repository.lower().endswith(f"/{repository}")
    ]
