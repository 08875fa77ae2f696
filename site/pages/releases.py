"""A page for each line of releases of a framework: what it changed for determinism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9m.kb.store import KnowledgeBase
from d9m.model.records import PullRequest
from d9m.model.versions import covers
from pages import bar, differences, grid, layout, recipes
from pages.differences import Change
from pages.grid import MinorRelease

DEVICE = "cuda"
"""What the pages are about; the status tables have the others."""


def path(package: str, line: str) -> str:
    return f"releases/{package}/{line}.md"


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    for package in sorted(kb.meta.prefixes):
        every = grid.lines(kb, package)
        if grid.grids(kb, package):
            for place, line in enumerate(every):
                yield _page(kb, package, every, place, line)


def _page(
    kb: KnowledgeBase, package: str, every: Sequence[MinorRelease], place: int, line: MinorRelease
) -> tuple[str, str]:
    name = kb.packages[package].title
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
        weight=2,
        aliases=(f"{name} {line.name} settings",),
        name=package,
        package=kb.packages[package],
        line=line,
        releases=[(each, kb.packages[package].releases[each]) for each in line.releases],
        earlier=earlier,
        later=later,
        changes=changes(kb, package, earlier, line) if earlier else [],
        blocks=list(recipes.as_blocks(kb, advice.steps)),
        strip=bar.strip(op.outcome for op in differences.answers(advice).values()),
        depending=[
            (each.query, grid.branches(kb, each))
            for each in differences.answers(advice).values()
            if each.outcome == "depends"
        ],
        bad=list(differences.answers(advice).values()),
        left=differences.LEFT.items(),
        pulls=_pulls(kb, package, line),
    )


def changes(
    kb: KnowledgeBase, package: str, earlier: MinorRelease, later: MinorRelease
) -> list[Change]:
    """What the newest of two lines answer differently, what got worse first."""
    places = [grid.lines(kb, package).index(line) for line in (earlier, later)]
    rows = [
        row for table in grid.grids(kb, package) if table.device == DEVICE for row in table.rows
    ]
    return differences.of_rows(rows, *places)


def _pulls(kb: KnowledgeBase, package: str, line: MinorRelease) -> list[tuple[str, PullRequest]]:
    """Pull requests that came with one of these releases."""
    repository = kb.packages[package].folder or package
    found: list[tuple[str, PullRequest]] = []
    for id_, pull in kb.pull_requests.items():
        is_own = pull.repository.lower().endswith(f"/{repository}")
        if is_own and pull.version and covers(line.name, pull.version):
            found.append((id_, pull))
    return found
