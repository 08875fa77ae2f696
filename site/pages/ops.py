"""The op catalogue: a page a framework, with what each op does in the newest release."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.kb.store import KnowledgeBase, OpEntry
from d9m.model.advice import WORST_LAST, OpAnswer
from d9m.model.records import Existence, Outcome
from d9m.model.versions import key
from pages import grid, layout, phrases, releases, versions


class OpCatalogue(msgspec.Struct, frozen=True):
    """The ops of one package."""

    package: str
    newest: str
    answers: list[OpAnswer]
    """Ops that meet a source, worst first."""
    gone: list[str]
    """Ops that meet a source in older releases only."""
    clean: list[tuple[str, str]]
    """Ops that no record names, and since when they exist."""
    names: list[tuple[str, list[str]]]
    """Other names, and the ops that they reach."""

    def count(self, outcome: Outcome) -> int:
        return sum(each.outcome == outcome for each in self.answers)


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    catalogues = [_catalogue(kb, name) for name, _ in versions.in_order(kb, kb.meta.prefixes)]
    title = "Ops"
    description = "Every op of the catalogue, with what it does in the newest release."
    outcomes = list(phrases.BOXES)[1:]
    yield layout.page(
        kb,
        "ops/index.md",
        "op_catalogues.md",
        title,
        description,
        ("toc",),
        catalogues=catalogues,
        outcomes=outcomes,
    )
    for catalogue in catalogues:
        name = kb.packages[catalogue.package].title
        yield layout.page(
            kb,
            f"ops/{catalogue.package}.md",
            "ops.md",
            f"{name} ops",
            (
                f"Which ops of {name} {catalogue.newest} are deterministic, which can be made so, "
                "and which cannot."
            ),
            hide=("navigation",),
            weight=3,
            catalogue=catalogue,
            outcomes=outcomes[::-1],
            package=kb.packages[catalogue.package],
        )


def _catalogue(kb: KnowledgeBase, package: str) -> OpCatalogue:
    released = kb.releases(package)
    newest = released[-1] if released else "any"
    start = f"{package}:"
    entries: list[OpEntry] = [kb.ops[place] for place in kb.ops if place.startswith(start)]
    every = grid.answer(kb, package, newest, releases.DEVICE).ops
    answers = [
        op for op in every if op.query != "*" and op.sources and op.outcome != "no-known-source"
    ]
    answered = {op.query for op in answers}
    own = [entry for entry in entries if entry.catalogued and entry.name not in answered]
    varying = {entry.name for entry in own if kb.sources_of(package, entry.name)}
    return OpCatalogue(
        package=package,
        newest=newest,
        answers=sorted(answers, key=lambda each: (-WORST_LAST.index(each.outcome), each.query)),
        gone=sorted(varying),
        clean=[(one.name, _exists(one.exists, newest)) for one in own if one.name not in varying],
        names=_names(entry for entry in entries if not entry.catalogued),
    )


def _exists(exists: Existence, newest: str) -> str:
    parts = [f"from {exists.from_}"] if exists.from_ else []
    ended = exists.until is not None and key(exists.until) <= key(newest)
    return " ".join([*parts, *([f"before {exists.until}"] if ended else [])])


def _names(entries: Iterator[OpEntry]) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for entry in entries:
        found.append((entry.name, list(dict.fromkeys(target.op for target in entry.reaches))))
    return found
