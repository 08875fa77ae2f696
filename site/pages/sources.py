"""A page for each source, and the table of all."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.browse import history
from d9m.browse.history import History
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import WORST_LAST
from d9m.model.op_syntax import Direction, parse
from d9m.model.records import Outcome, Package, Source
from pages import bar, layout, phrases, proof, recipes, runs, upstream, versions
from pages.markdown import Markdown, code
from pages.places import PageContext

_Row = tuple[str, Source, History]


class SourcesPart(msgspec.Struct, frozen=True):
    """Rows of the list that stand together, and which columns say something of them."""

    outcome: Outcome | None
    """That of all rows, which the heading says; None: they differ."""
    rows: list[_Row]

    @property
    def has_fix(self) -> bool:
        return any(history.fixed_in for _id, _source, history in self.rows)

    @property
    def has_reason(self) -> bool:
        """Whether some row says what its answer rests on."""
        verdicts = [history.today.verdict for _id, _source, history in self.rows if history.today]
        return any(each.last_verified or each.alternatives or each.raised_by for each in verdicts)


_MANY = 30
"""Rows of a table that are still found without a heading."""


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    ids = kb.sources
    groups: list[tuple[str, Package, list[SourcesPart]]] = []
    for home, package in versions.in_order(kb, {kb.home(id_) for id_ in ids}):
        own = [id_ for id_ in ids if kb.home(id_) == home]
        rows = [(id_, kb.sources[id_], history.of(kb, id_)) for id_ in own]
        groups.append((home, package, _parts(rows)))
    title = "Sources of nondeterminism"
    description = (
        "Every known source of nondeterminism, with what happens in the newest release "
        "and what solves it."
    )
    yield layout.page(kb, "sources/index.md", "sources.md", title, description, groups=groups)
    for id_ in ids:
        yield _page(kb, id_, kb.sources[id_])


def _parts(rows: list[_Row]) -> list[SourcesPart]:
    """The rows of a package; where they are many, a part for each outcome, the worst first."""
    if len(rows) <= _MANY:
        return [SourcesPart(None, rows)]
    parts: dict[Outcome, list[_Row]] = {outcome: [] for outcome in reversed(WORST_LAST)}
    for row in rows:
        today = row[2].today
        parts[today.verdict.outcome if today else "no-known-source"].append(row)
    return [SourcesPart(outcome, part) for outcome, part in parts.items() if part]


def _page(kb: KnowledgeBase, id_: str, source: Source) -> tuple[str, str]:
    told = history.of(kb, id_)
    package = kb.packages[told.home]
    return layout.record_page(
        kb,
        "sources",
        id_,
        "source.md",
        source.title,
        f"{source.summary} What happens in each release of {package.title}, and what to set.",
        source=source,
        package=package,
        history=told,
        newest=kb.releases(told.home)[-1] if kb.releases(told.home) else "",
        box=phrases.BOXES[told.today.verdict.outcome] if told.today else "info",
        recipes=recipes.for_source(kb, told),
        bar=bar.bar(kb, told.usual, kb.releases(told.home)),
        proofs=proof.of_source(kb, source),
        measured=runs.of_source(kb, id_),
        events=upstream.timeline(kb, source.references),
        reached_by=[_op_link(kb, id_, told, item) for item in source.ops],
    )


def _op_link(kb: KnowledgeBase, id_: str, told: History, item: str) -> Markdown:
    """A query item of a source as a link to its op, with arguments and direction behind it."""
    query = parse(item)
    here = PageContext(kb, f"sources/{id_}.md")
    name = here.link("ops", f"{told.home}:{query.name}", query.name)
    arguments = [code(f"{argument}={value}") for argument, value in query.arguments.items()]
    ways: tuple[Direction, ...] = query.directions
    return Markdown(" ".join([name, *arguments, *([f"({ways[0]})"] if len(ways) == 1 else [])]))
