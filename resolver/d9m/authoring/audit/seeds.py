"""Ops that draw random numbers, as the framework says of its operators: does each need a seed?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.operators import sources_of_name
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.model.op_syntax import plain
from d9m.model.wheel_facts import spans

_RANDOM = frozenset({"random-numbers", "unseeded-random"})


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`seed-without-source`: a known name draws, or leads to what does, and no source says so,
    whatever its arguments.
    """
    for catalogue in shipped.dispatched:
        found: dict[str, dict[str, set[str]]] = {}
        for trace in catalogue.traces():
            drawing = {f"torch.ops.aten.{name}": {name} for name in trace.seeded}
            for op, ways in trace.ops.items():
                reached = {name for operators in ways.values() for name in operators}
                drawing[op] = reached & set(trace.seeded)
            for name, operators in drawing.items():
                mechanisms = {
                    source.mechanism for source in sources_of_name(known, catalogue.package, name)
                }
                is_known = known.kb.names.get(f"{catalogue.package}:{plain(name)}")
                if operators and is_known and not mechanisms & _RANDOM:
                    found.setdefault(name, {})[trace.version] = operators
        for name, held in found.items():
            span = spans(catalogue.releases, [each in held for each in catalogue.releases])
            operators = sorted(set[str]().union(*held.values()))
            detail = f"{catalogue.package}: it draws in {', '.join(operators)}"
            yield AuditDifference("seed-without-source", name, span, detail)
