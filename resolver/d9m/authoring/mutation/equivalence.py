"""Whether a changed record still says the same: a mutant that changes no answer can be noticed by
nobody.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec

from d9m.authoring.mutation.mutants import Mutant
from d9m.environment.container import Image, contents
from d9m.environment.environment import DEVICES, Environment
from d9m.environment.releases import Installed, of_any
from d9m.kb.kinds import BY_NAME
from d9m.kb.store import KnowledgeBase, Met
from d9m.model.op_syntax import BOTH
from d9m.model.records import Turn
from d9m.model.when import World
from d9m.resolve.rules import Rules, Verdict, rules


def same(before: KnowledgeBase, after: KnowledgeBase, mutant: Mutant) -> bool:
    """Whether no source gets another verdict anywhere, and no setting is asked for elsewhere."""
    if mutant.kind == "ingredients":
        return False
    pairs = zip(_every_met(before), _every_met(after))
    touched = [
        (rules(before, old, {}), rules(after, new, {}))
        for old, new in pairs
        if _concerns(mutant, before, old)
    ]
    if mutant.path[0] == "sets" and not _contested(before, mutant):
        return True
    if mutant.path[0] in ("settings", "sets"):
        only = {mutant.package: (mutant.release,)}
        return not any(_offers(before, mutant.record.label, old, only) for old, _new in touched)
    return all(
        first == second for old, new in touched for first, second in _verdicts(before, old, new, {})
    )


def _contested(kb: KnowledgeBase, mutant: Mutant) -> bool:
    """Whether somebody else wants a knob otherwise than the solution turns it by itself: else it
    does not show.
    """
    own: Turn = kb.of(BY_NAME[mutant.kind])[mutant.id].sets[mutant.path[1]]
    turning = [*kb.solutions.values(), *kb.ingredients.values()]
    turns = [turn for record in turning for turn in (*record.settings, *record.sets)]
    rivals = [each for each in turns if each.name == own.set and each != own]
    return any(each.unset or set(each.to) - set(own.to) for each in rivals)


def _every_met(kb: KnowledgeBase) -> Iterator[Met]:
    """Every source as met by each op, and the sources of no op."""
    for table in (kb.met, kb.opless):
        for group in table.values():
            yield from group


def _concerns(mutant: Mutant, kb: KnowledgeBase, met: Met) -> bool:
    return (
        met.id == mutant.id
        if mutant.kind == "sources"
        else mutant.record.label in _with_required(kb, met.source.labels())
    )


def _with_required(kb: KnowledgeBase, labels: set[str]) -> set[str]:
    return {label for label, _id, _solution in kb.with_required(labels)}


def _offers(kb: KnowledgeBase, label: str, own: Rules, only: dict[str, tuple[str, ...]]) -> bool:
    """Whether a solution is proposed there, so that its settings are asked for."""
    verdicts = (verdict for verdict, _same in _verdicts(kb, own, own, only))
    every = {each for verdict in verdicts for labels in verdict.alternatives for each in labels}
    return label in _with_required(kb, every)


def _verdicts(
    kb: KnowledgeBase, old: Rules, new: Rules, only: dict[str, tuple[str, ...]]
) -> Iterator[tuple[Verdict, Verdict]]:
    """What two sets of rules say in every world, but for notes; `only` holds a package to some
    releases.
    """
    for image, world in _worlds(kb, old, new, only):
        first, second = (each.verdict(world, image, BOTH)[0] for each in (old, new))
        yield msgspec.structs.replace(first, note=None), msgspec.structs.replace(second, note=None)


def _worlds(
    kb: KnowledgeBase, old: Rules, new: Rules, only: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str | None, World]]:
    """Every world that one of the two tells apart, and the image that it is in."""
    cuts = {
        name: (*old.cuts.get(name, ()), *new.cuts.get(name, ()))
        for name in {**old.cuts, **new.cuts}
    }
    places = (
        (
            each.image.package if each.image else None,
            tuple(each.domains(cuts, assume=False).items()),
        )
        for each in _everywhere(kb, old.home, only)
    )
    for image, domains in dict.fromkeys(places):
        for cells in itertools.product(*(each for _name, each in domains)):
            yield image, {name: cell.value for (name, _cells), cell in zip(domains, cells)}


def _everywhere(
    kb: KnowledgeBase, home: str, only: dict[str, tuple[str, ...]]
) -> Iterator[Environment]:
    """Environments that together leave everything open: with nothing else, with everything, in each
    image.
    """
    undecided = frozenset(kb.meta.platforms) - only.keys()
    images = [name for name, package in kb.packages.items() if package.kind == "image"]
    every = {
        name: only.get(name) or kb.releases(name) for name in kb.packages if name not in undecided
    }
    present = {name: of_any(releases) for name, releases in every.items()}
    alone = {name: each for name, each in present.items() if name == home or name in only}
    crowd = {name: each for name, each in present.items() if name not in images}
    for device in DEVICES:
        for packages in (alone, crowd):
            yield Environment(packages, None, device, {}, kb.meta.facts, undecided)
        for image in (
            Image(name, name, name, release) for name in images for release in every[name]
        ):
            held = _held(kb, image)
            if home in held and only.keys() <= held.keys():
                yield Environment(held, image, device, {}, kb.meta.facts, undecided - held.keys())


def _held(kb: KnowledgeBase, image: Image) -> dict[str, Installed]:
    return kb.once(("held", image), lambda: contents(kb, image))
