"""Whether a changed record still says the same: no case can notice a mutant that
changes no answer.
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
from d9m.kb.store import KnowledgeBase, OpSource
from d9m.model.conditions import Cells
from d9m.model.op_syntax import BOTH
from d9m.model.records import SettingChange
from d9m.model.when import World
from d9m.resolve.rules import Rules, Verdict, rules


def same(before: KnowledgeBase, after: KnowledgeBase, mutant: Mutant) -> bool:
    """Whether no source gets another verdict anywhere, and no setting is asked for elsewhere."""
    if mutant.kind == "ingredients":
        return False
    touched: list[tuple[Rules, Rules]] = []
    for old, new in zip(_every_met(before), _every_met(after)):
        if _concerns(mutant, before, old):
            touched.append((rules(before, old, {}), rules(after, new, {})))
    if mutant.path[0] == "sets" and not _contested(before, mutant):
        return True
    if mutant.path[0] in ("settings", "sets"):
        only = {mutant.package: (mutant.release,)}
        return not any(_offers(before, mutant.record.label, old, only) for old, _new in touched)
    for old, new in touched:
        for first, second in _verdicts(before, old, new, {}):
            if first != second:
                return False
    return True


def _contested(kb: KnowledgeBase, mutant: Mutant) -> bool:
    """Whether another record wants a setting otherwise than the solution turns it: else it
    does not show.
    """
    own: SettingChange = kb.of(BY_NAME[mutant.kind])[mutant.id].sets[mutant.path[1]]
    for record in (*kb.solutions.values(), *kb.ingredients.values()):
        for turn in (*record.settings, *record.sets):
            is_rival = turn.name == own.set and turn != own
            if is_rival and (turn.unset or set(turn.to) - set(own.to)):
                return True
    return False


def _every_met(kb: KnowledgeBase) -> Iterator[OpSource]:
    """Every source of each op, and the sources of no op."""
    for table in (kb.op_sources, kb.package_level):
        for group in table.values():
            yield from group


def _concerns(mutant: Mutant, kb: KnowledgeBase, op_source: OpSource) -> bool:
    return (
        op_source.id == mutant.id
        if mutant.kind == "sources"
        else mutant.record.label in op_source.source.labels()
    )


def _offers(kb: KnowledgeBase, label: str, own: Rules, only: dict[str, tuple[str, ...]]) -> bool:
    """Whether a solution is proposed there, so that its settings are asked for."""
    every: set[str] = set()
    for verdict, _same in _verdicts(kb, own, own, only):
        every.update(*verdict.alternatives)
    return label in every


def _verdicts(
    kb: KnowledgeBase, old: Rules, new: Rules, only: dict[str, tuple[str, ...]]
) -> Iterator[tuple[Verdict, Verdict]]:
    """Yield both verdicts in every world, but for notes; `only` holds a package to some
    releases.
    """
    for image, world in _worlds(kb, old, new, only):
        first, second = (each.verdict(world, image, BOTH)[0] for each in (old, new))
        yield msgspec.structs.replace(first, note=None), msgspec.structs.replace(second, note=None)


def _worlds(
    kb: KnowledgeBase, old: Rules, new: Rules, only: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str | None, World]]:
    """Every world in which the two differ, and the image that it is in."""
    cuts = dict(old.cuts)
    for name, bounds in new.cuts.items():
        cuts[name] = (*cuts.get(name, ()), *bounds)
    places: dict[tuple[str | None, tuple[tuple[str, Cells], ...]], None] = {}
    for environment in _everywhere(kb, old.home, only):
        image = environment.image.package if environment.image else None
        places[image, tuple(environment.domains(cuts, assume=False).items())] = None
    for image, domains in places:
        for cells in itertools.product(*dict(domains).values()):
            yield image, {name: cell.value for (name, _cells), cell in zip(domains, cells)}


def _everywhere(
    kb: KnowledgeBase, home: str, only: dict[str, tuple[str, ...]]
) -> Iterator[Environment]:
    """Environments that together leave everything open: with nothing else, with everything, in each
    image.
    """
    undecided = frozenset(kb.meta.platforms) - only.keys()
    images = [name for name, package in kb.packages.items() if package.kind == "image"]
    every: dict[str, tuple[str, ...]] = {}
    alone: dict[str, Installed] = {}
    crowd: dict[str, Installed] = {}
    for name in kb.packages:
        if name not in undecided:
            every[name] = only.get(name) or kb.releases(name)
            if name == home or name in only:
                alone[name] = of_any(every[name])
            if name not in images:
                crowd[name] = of_any(every[name])
    shipped = [Image(name, name, name, release) for name in images for release in every[name]]
    for device in DEVICES:
        for packages in (alone, crowd):
            yield Environment(packages, None, device, {}, kb.meta.facts, undecided)
        for image in shipped:
            held = _held(kb, image)
            if home in held and only.keys() <= held.keys():
                yield Environment(held, image, device, {}, kb.meta.facts, undecided - held.keys())


def _held(kb: KnowledgeBase, image: Image) -> dict[str, Installed]:
    return kb.once(("held", image), lambda: contents(kb, image))
