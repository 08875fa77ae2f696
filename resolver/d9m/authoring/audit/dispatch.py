"""What an op ends in: does it have the sources of the operators that it reaches?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.operators import HARMLESS, find_item, own_kernel
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.environment.environment import Environment, Setup, describe
from d9m.model.dispatch_facts import DispatchTrace
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.resolver import resolve

_DENSE = (("layout", "dense"),)


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`dispatch-without-reach`: an op lacks a source that an operator has which it reaches, in a
    program that is compiled or in one that is not.
    """
    for trace in shipped.traces:
        reached = {name for ways in trace.ops.values() for ops in ways.values() for name in ops}
        operators = {name: own_kernel(name) for name in reached}
        asked = {
            f"{op}:{direction}": f"{op}:{direction}"
            for op, ways in trace.ops.items()
            for direction in ways
        }
        compiled = (("compile", "true"),) if "compile" in known.loaded.facts else ()
        for more in dict.fromkeys(((), compiled)):
            setup = Setup(((trace.package, trace.version),), facts=(*_DENSE, *more))
            environment = describe(known.kb, setup)
            varying = _sources(known, environment, operators, False)
            yield from _missing(trace, varying, _sources(known, environment, asked, True))


def _missing(
    trace: DispatchTrace, varying: dict[str, set[str]], met: dict[str, set[str]]
) -> Iterator[AuditDifference]:
    for op, ways in trace.ops.items():
        for direction, operators in ways.items():
            found: dict[str, list[str]] = {}
            for operator in operators:
                for source in varying[operator] - met[f"{op}:{direction}"]:
                    found.setdefault(source, []).append(operator)
            for source, through in found.items():
                subject = f"{op}:{direction}:{source}"
                detail = f"{trace.package}: it reaches {', '.join(sorted(through))}"
                yield AuditDifference(
                    "dispatch-without-reach", subject, f"{trace.version}..", detail
                )


def _sources(
    known: Known, environment: Environment, asked: dict[str, str], harmless: bool
) -> dict[str, set[str]]:
    """Key -> sources of the op that is asked about; none for a name that nobody knows."""
    items: dict[str, OpItem] = {}
    for key, text in asked.items():
        item = find_item(known, environment, text)
        if item is not None:
            items[key] = item
    answers = resolve(known.kb, environment, list(items.values())).ops
    found = {key: set[str]() for key in asked}
    for key, answer in zip(items, answers):
        for source in answer.sources:
            if harmless or source.outcome not in HARMLESS:
                found[key].add(source.id)
    return found
