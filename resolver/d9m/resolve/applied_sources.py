"""Which sources apply to a question, judged."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import WHOLE, KnowledgeBase, OpSource
from d9m.model import op_syntax
from d9m.model.advice import WORST_LAST
from d9m.model.op_syntax import BOTH, Direction
from d9m.model.records import INCLUDED, Scope, Source
from d9m.resolve import op_lookup
from d9m.resolve.evaluate import Evaluation, judge
from d9m.resolve.op_lookup import OpCall, OpItem
from d9m.resolve.rules import rules


class AppliedSource(msgspec.Struct, frozen=True, eq=False):
    """One source as some calls reach it, judged."""

    op_source: OpSource
    home: str
    environment: Environment
    """With the arguments of the call."""
    finding: Evaluation
    directions: list[Direction]


def of_items(
    kb: KnowledgeBase, environment: Environment, items: Sequence[OpItem], scope: Scope
) -> list[list[AppliedSource]]:
    """For each query item the sources of its ops that apply, worst first."""
    known: dict[Hashable, AppliedSource] = {}

    def judged(op: OpCall, op_source: OpSource) -> AppliedSource:
        place = (
            rules(kb, op_source, op.when),
            *op.arguments.items(),
            op.directions,
            *op.defaults.items(),
            op.exists,
        )
        if place not in known:
            call = environment.given(op.arguments, op.defaults).having(op.package, op.exists)
            known[place] = AppliedSource(
                op_source, op.package, call, *judge(kb, call, op_source, op.when, op.directions)
            )
        return known[place]

    def every(item: OpItem) -> Iterator[AppliedSource]:
        for op in item.ops:
            for op_source in kb.sources_of(op.package, op.name):
                if _can_apply(op_source.source, environment, scope):
                    yield judged(op, op_source)

    return [_worst_first(every(item)) for item in items]


def _can_apply(source: Source, environment: Environment, scope: Scope) -> bool:
    """Most sources are of one device: those of others need not be judged."""
    elsewhere = source.condition.excludes("device", environment.device)
    return source.scope in INCLUDED[scope] and not elsewhere


def _worst_first(every: Iterable[AppliedSource]) -> list[AppliedSource]:
    """Sources that apply, each at its worst."""
    found: dict[str, AppliedSource] = {}
    for source in every:
        known = found.get(source.op_source.id)
        if source.finding.is_present and (known is None or _worse(source.finding, known.finding)):
            found[source.op_source.id] = source
    return sorted(
        found.values(),
        key=lambda each: (-WORST_LAST.index(each.finding.outcome), each.op_source.id),
    )


def of_packages(
    kb: KnowledgeBase, environment: Environment, scope: Scope, items: Sequence[OpItem] = ()
) -> list[AppliedSource]:
    """Sources of the packages themselves, but for those that an item asks about: Horovod's fusion,
    a launcher's switches.
    """
    calls = itertools.chain.from_iterable(item.ops for item in items if not item.is_listed)
    asked = {op.package for op in calls if op.name == WHOLE}
    found: list[AppliedSource] = []
    for package in environment.packages:
        if package in asked or not _is_asked_about(kb, environment, package):
            continue
        for op_source in kb.package_level.get(package) or ():
            if _can_apply(op_source.source, environment, scope):
                finding, directions = judge(kb, environment, op_source, {}, BOTH)
                if finding.is_present:
                    found.append(
                        AppliedSource(op_source, package, environment, finding, directions)
                    )
    return found


def of_add_ons(
    kb: KnowledgeBase, environment: Environment, scope: Scope, items: Sequence[OpItem]
) -> list[AppliedSource]:
    """Return what an add-on does that the user names without asking about one of its ops:
    FlashAttention, where the question is about an op of PyTorch.
    """
    asked = {op.package for item in items for op in item.ops}
    found: list[AppliedSource] = []
    for package in environment.packages:
        if package not in asked and op_lookup.is_add_on(kb, environment, package):
            names = kb.meta.stands_for[package]
            meant = [op_lookup.find(kb, environment, op_syntax.parse(name)) for name in names]
            groups = of_items(kb, environment, meant, scope)
            found += _worst_first(itertools.chain.from_iterable(groups))
    return found


def _is_asked_about(kb: KnowledgeBase, environment: Environment, package: str) -> bool:
    """Every wheel and image ships CUDA, cuDNN and NCCL: who neither names nor uses one does not ask
    about it.
    """
    if package not in kb.meta.platforms or environment.packages[package].origin == "given":
        return True
    concern = kb.packages[package].concern
    return concern is not None and bool(environment.holding(concern))


def _worse(first: Evaluation, second: Evaluation) -> bool:
    return _badness(first) > _badness(second)


def _badness(finding: Evaluation) -> tuple[int, int]:
    """How bad a source is here, and then how bad it could become."""
    others = (WORST_LAST.index(outcome) for _clause, outcome in finding.otherwise)
    return WORST_LAST.index(finding.outcome), max(others, default=0)
