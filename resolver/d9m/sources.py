"""Which sources a question meets, judged."""

from __future__ import annotations

import msgspec

from d9m.advice import WORST_LAST
from d9m.environment import Environment
from d9m.judge import Finding, judge
from d9m.kb.tables import KnowledgeBase, Met
from d9m.lookup import AskedItem
from d9m.query import BOTH, Direction
from d9m.records import Scope


class Judged(msgspec.Struct, frozen=True):
    """One source as met by one query item."""

    met: Met
    home: str
    environment: Environment
    """With the arguments of the call."""
    finding: Finding
    directions: list[Direction]


def of_item(kb: KnowledgeBase, environment: Environment, item: AskedItem, scope: Scope) -> list[Judged]:
    """Sources that the ops of one query item meet, worst first."""
    found: dict[str, Judged] = {}
    for op in item.ops:
        for met in kb.met_by(op.package, op.name):
            if met.source.scope != scope:
                continue
            call = environment.given(op.arguments)
            finding, directions = judge(kb, call, met, op.when, op.directions)
            new = Judged(met, op.package, call, finding, directions)
            if _is_met(finding) and (met.id not in found or _worse(finding, found[met.id].finding)):
                found[met.id] = new
    return sorted(found.values(), key=lambda each: (-WORST_LAST.index(each.finding.worst[1].outcome), each.met.id))


def of_no_op(kb: KnowledgeBase, environment: Environment, scope: Scope) -> list[Judged]:
    """Sources of the packages themselves: Horovod's fusion, a launcher's switches."""
    found: list[Judged] = []
    for package, installed in environment.packages.items():
        if package in kb.meta.platforms and installed.origin != "given":
            continue  # every wheel and image ships CUDA, cuDNN and NCCL: only who names one asks about it
        for met in kb.opless(package):
            if met.source.scope == scope:
                finding, directions = judge(kb, environment, met, {}, BOTH)
                if _is_met(finding):
                    found.append(Judged(met, package, environment, finding, directions))
    return found


def _is_met(finding: Finding) -> bool:
    return any(verdict.outcome != "no-known-source" for _clause, verdict in finding.possible)


def _worse(first: Finding, second: Finding) -> bool:
    return WORST_LAST.index(first.worst[1].outcome) > WORST_LAST.index(second.worst[1].outcome)
