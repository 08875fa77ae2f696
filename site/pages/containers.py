"""A page for each container image: what it ships, what to set inside, and what the image before did
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from d9m.api import advise
from d9m.environment.container import tag, tags
from d9m.environment.environment import Setup
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import WORST_LAST, Advice
from d9m.model.records import Outcome, Package, Release
from pages import differences, grid, layout, phrases, proof, recipes
from pages.differences import Change

REGISTRY = "nvcr.io"


class ImagePart(msgspec.Struct, frozen=True):
    """A package inside an image."""

    package: str
    version: str
    before: str | None
    """In the image before; None: the same, or not known of both."""


class Left(msgspec.Struct, frozen=True):
    """Ops that stay as bad for the same reason."""

    outcome: Outcome
    ops: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    """Id and title."""


class ImageRow(msgspec.Struct, frozen=True):
    """A row of the list of all images."""

    tag: str
    path: str
    release: Release
    stock: str
    """Version of the framework inside; empty where it is not verified."""
    left: tuple[int, ...]
    """Ops that no setting makes deterministic, and those that are not verified."""


def path(kb: KnowledgeBase, package: str, release: str) -> str:
    image = kb.packages[package]
    return f"containers/{image.image}/{tag(image, release)}.md"


def images(kb: KnowledgeBase) -> list[str]:
    """Packages that are images of which releases are listed."""
    return [name for name in kb.packages if kb.packages[name].image and kb.releases(name)]


def answer(kb: KnowledgeBase, package: str, release: str) -> Advice:
    """Everything known of one image."""
    found = setup(kb, package, release)
    return kb.once(("container", package, release), lambda: advise(kb, found))


def setup(kb: KnowledgeBase, package: str, release: str) -> Setup:
    """The environment of one image."""
    image = kb.packages[package]
    return Setup((), f"{image.image}:{tag(image, release)}")


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    groups: list[tuple[str, Package, list[ImageRow]]] = []
    for name in images(kb):
        rows = [_image(kb, name, release) for release in reversed(kb.releases(name))]
        groups.append((name, kb.packages[name], rows))
    title = "Containers"
    description = (
        "What each NVIDIA NGC image ships, and what to set inside it for reproducible runs."
    )
    headings = list(differences.LEFT)
    yield layout.page(
        kb,
        "containers/index.md",
        "containers.md",
        title,
        description,
        groups=groups,
        headings=headings,
    )
    for name in images(kb):
        for release in kb.releases(name):
            yield _page(kb, name, release)


def _image(kb: KnowledgeBase, name: str, release: str) -> ImageRow:
    package = kb.packages[name]
    known = package.releases[release]
    found = _left(answer(kb, name, release))
    left = tuple(
        sum(len(each.ops) for each in found if each.outcome in outcomes)
        for outcomes in differences.LEFT.values()
    )
    stock = known.with_.get(package.stock or "", "")
    return ImageRow(tag(package, release), path(kb, name, release), known, stock, left)


def _page(kb: KnowledgeBase, name: str, release: str) -> tuple[str, str]:
    package = kb.packages[name]
    known = package.releases[release]
    advice = answer(kb, name, release)
    earlier, later = _around(kb.releases(name), release)
    shown = tag(package, release)
    title = f"{REGISTRY}/{package.repository}:{shown}"
    return layout.page(
        kb,
        path(kb, name, release),
        "container.md",
        title,
        (
            f"What the image {package.image}:{shown} ships, and what to set inside it for "
            "reproducible runs."
        ),
        hide=("navigation",),
        weight=3,
        aliases=(f"NGC container {kb.packages[package.stock or name].title} {release}",),
        name=name,
        package=package,
        release=known,
        others=tags(package, release)[1:],
        command=f"d9m advise --container {package.image}:{shown}",
        parts=_parts(kb, package, release, earlier, advice),
        unseen=_unseen(kb, package, advice),
        labels=[each.label for each in advice.solutions],
        blocks=list(recipes.as_blocks(kb, advice.steps)),
        left=_left(advice),
        headings=differences.LEFT.items(),
        depending=[
            (each.query, grid.branches(kb, each))
            for each in differences.answers(advice).values()
            if each.outcome == "depends"
        ],
        earlier=earlier and (tag(package, earlier), path(kb, name, earlier)),
        later=later and (tag(package, later), path(kb, name, later)),
        changes=_changes(kb, name, earlier, release) if earlier else [],
        proofs=proof.of(kb, known.evidence),
    )


def _changes(kb: KnowledgeBase, name: str, earlier: str, release: str) -> list[Change]:
    both = (earlier, release)
    setups = [setup(kb, name, each) for each in both]
    return differences.between(kb, setups, [answer(kb, name, each) for each in both])


def _around(released: Sequence[str], release: str) -> tuple[str | None, str | None]:
    """The releases before and after."""
    place = released.index(release)
    return (released[place - 1] if place else None), next(iter(released[place + 1 :]), None)


def _left(advice: Advice) -> list[Left]:
    """What the advised settings do not make deterministic, worst first."""
    groups: dict[tuple[Outcome, tuple[tuple[str, str], ...]], list[str]] = {}
    for op in differences.answers(advice).values():
        if op.outcome in (outcome for each in differences.LEFT.values() for outcome in each):
            why = tuple((each.id, each.title) for each in op.sources if each.outcome == op.outcome)
            groups.setdefault((op.outcome, why), []).append(op.query)
    found = [Left(outcome, tuple(ops), why) for (outcome, why), ops in groups.items()]
    return sorted(found, key=lambda each: (-WORST_LAST.index(each.outcome), each.ops))


def _parts(
    kb: KnowledgeBase, package: Package, release: str, earlier: str | None, advice: Advice
) -> list[ImagePart]:
    before = package.releases[earlier].with_ if earlier else {}
    found: list[ImagePart] = []
    for name, version in package.releases[release].with_.items():
        was = before.get(name)
        found.append(ImagePart(name, version, None if was == version else was))
    for name, version in advice.environment.packages.items():
        if version == "any" and name in kb.meta.platforms:
            inside = advice.environment.releases[name]
            span = inside[0] if inside[0] == inside[-1] else f"{inside[0]} to {inside[-1]}"
            found.append(ImagePart(name, f"{span}, going by the images around it", None))
    return found


def _unseen(kb: KnowledgeBase, package: Package, advice: Advice) -> str | None:
    """Releases of the framework that the image may hold, where it is not verified which; None: it
    is known.
    """
    stock = package.stock
    if stock is None or advice.environment.packages.get(stock) != "any":
        return None
    inside = advice.environment.releases[stock]
    return phrases.run(inside[0], inside[-1], kb.releases(stock))
