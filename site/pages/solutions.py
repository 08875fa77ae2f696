"""A page for each solution with all that it covers, and the table of all."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.browse import history
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Solution, Source
from pages import layout, phrases, proof, recipes, upstream


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    solved = covered(kb)
    solutions = list(kb.solutions.items())
    rows = [(id_, each, kb.home(id_), len(solved.get(each.label, []))) for id_, each in solutions]
    title = "Solutions"
    description = (
        "Every switch, variable, package and patch that removes nondeterminism, and "
        "where it exists."
    )
    yield layout.page(
        kb, "solutions/index.md", "solutions.md", title, description, ("toc",), rows=rows
    )
    for id_, solution in solutions:
        yield _page(kb, id_, solution, solved.get(solution.label, []))


def _page(
    kb: KnowledgeBase, id_: str, solution: Solution, covered: list[tuple[str, str]]
) -> tuple[str, str]:
    home = kb.home(id_)
    proofs = proof.of(kb, solution.evidence)
    for part in (*solution.cautions, *solution.notes, *solution.costs):
        proofs += proof.of(kb, part.evidence, "see above")
    return layout.record_page(
        kb,
        "solutions",
        id_,
        "solution.md",
        f"{solution.title} ({solution.label})",
        solution.summary,
        solution=solution,
        package=kb.packages[home],
        home=home,
        recipes=recipes.for_solution(kb, home, solution.label),
        covered=[(source, kb.sources[source], where) for source, where in covered],
        proofs=list(dict.fromkeys(proofs)),
        events=upstream.timeline(kb, solution.references),
    )


def covered(kb: KnowledgeBase) -> dict[str, list[tuple[str, str]]]:
    """Label -> the sources that it solves, each with the releases where it does."""
    return kb.once("covered", lambda: _covered(kb))


def _covered(kb: KnowledgeBase) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, dict[str, dict[tuple[str, str], list[str]]]] = {}
    for id_, source in kb.sources.items():
        told = history.of(kb, id_)
        if not kb.releases(told.home):
            for label in _named(source):
                found.setdefault(label, {}).setdefault(id_, {})
        for track in (told.usual, *told.others):
            for row in track.rows:
                condition = " and ".join(
                    filter(None, (phrases.plain(kb, track.under), phrases.plain(kb, row.where)))
                )
                for label in set[str]().union(*row.verdict.alternatives):
                    by_source = found.setdefault(label, {}).setdefault(id_, {})
                    by_source.setdefault((track.package, condition), []).extend(row.releases)
    return {
        label: [(id_, "; ".join(_where(kb, where))) for id_, where in sorted(by_source.items())]
        for label, by_source in found.items()
    }


def _named(source: Source) -> set[str]:
    """Solutions that a source names, where no release of its package is known that could be asked
    about.
    """
    found: set[str] = set()
    for ruling in source.rulings():
        if ruling.outcome != "raises":
            found.update(*ruling.alternatives)
    return found


def _where(kb: KnowledgeBase, releases: dict[tuple[str, str], list[str]]) -> Iterator[str]:
    """Spans of releases; under a condition only those that it adds."""
    for (package, condition), chosen in releases.items():
        added = set(chosen) - set(releases.get((package, ""), []) if condition else [])
        if added:
            spans = ", ".join(phrases.runs(added, kb.releases(package)))
            yield f"{package} {spans}" + (f" ({condition})" if condition else "")
