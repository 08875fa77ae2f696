"""The releases of each package: what they contain, and when they came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from d9m.environment.container import tag
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Package
from pages import containers, grid, layout, proof, releases

_KINDS = {
    "framework": "Frameworks",
    "image": "Container images",
    "library": "Libraries",
    "application": "Applications",
    "platform": "Platform",
}


def in_order(kb: KnowledgeBase, names: Iterable[str]) -> list[tuple[str, Package]]:
    """Packages as lists show them: what people build on first, the framework with most sources at
    the front; the others of a kind by title.
    """
    kinds = list(_KINDS)
    homes = kb.once("sources by home", lambda: Counter(map(kb.home, kb.sources)))
    found: list[tuple[int, int, str, str]] = []
    for name in names:
        package = kb.packages[name]
        most = -homes[name] if package.kind == "framework" else 0
        found.append((kinds.index(package.kind), most, package.title.lower(), name))
    return [(name, kb.packages[name]) for *_place, name in sorted(found)]


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    packages = [(name, package, kb.releases(name)) for name, package in in_order(kb, kb.packages)]
    groups: list[tuple[str, list[tuple[str, Package, tuple[str, ...]]]]] = []
    for kind, title in _KINDS.items():
        groups.append((title, [known for known in packages if known[1].kind == kind]))
    title = "Releases"
    description = "Releases of frameworks, images and libraries, with dates and what each contains."
    yield layout.page(
        kb,
        "versions/index.md",
        "versions.md",
        title,
        description,
        groups=[group for group in groups if group[1]],
    )
    for name, package, released in packages:
        known = [(release, package.releases[release]) for release in reversed(released)]
        parts: dict[str, None] = {}
        proofs = list(proof.of(kb, package.evidence))
        for release, record in known:
            parts.update(dict.fromkeys(record.with_))
            proofs += proof.of(kb, record.evidence, release)
        yield layout.record_page(
            kb,
            "packages",
            name,
            "package.md",
            package.title,
            f"Every release of {package.title} that is known here, with its date and contents.",
            name=name,
            package=package,
            known=known,
            parts=list(parts),
            lines=_lines(kb, name),
            tags=_tags(kb, name) if package.image else {},
            dated=any(each.date for _release, each in known),
            noted=any(each.note or each.confidence != "confirmed" for _release, each in known),
            sources=[id_ for id_ in kb.sources if kb.home(id_) == name],
            proofs=proofs,
        )


def frameworks(kb: KnowledgeBase) -> list[str]:
    """Those with releases, the one with most sources first."""
    return [
        name
        for name, package in in_order(kb, kb.meta.prefixes)
        if package.kind == "framework" and kb.releases(name)
    ]


def _lines(kb: KnowledgeBase, name: str) -> dict[str, str]:
    """Release -> the page about what its line changed, where there is one."""
    if name not in kb.meta.prefixes or not grid.grids(kb, name):
        return {}
    found: dict[str, str] = {}
    for line in grid.lines(kb, name):
        found.update(dict.fromkeys(line.releases, releases.path(name, line.name)))
    return found


def _tags(kb: KnowledgeBase, name: str) -> dict[str, tuple[str, str]]:
    """Release of an image -> its tag, and the page about it."""
    found: dict[str, tuple[str, str]] = {}
    for release in kb.releases(name):
        found[release] = (tag(kb.packages[name], release), containers.path(kb, name, release))
    return found
