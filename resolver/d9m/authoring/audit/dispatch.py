"""Operators that an op reaches: does it have the sources of the operators that it reaches?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.operators import HARMLESS, OWN_QUERIES, find_item
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.environment.environment import Environment, Setup, describe
from d9m.model.dispatch_facts import DispatchTrace
from d9m.model.wheel_facts import spans
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.resolver import resolve

_DENSE = (("layout", "dense"),)


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`dispatch-without-reach`: an op lacks a source that an operator has which it reaches, in a
    program that is compiled or in one that is not.
    """
    compiled = (("compile", "true"),) if "compile" in known.loaded.facts else ()
    for catalogue in shipped.dispatched:
        found: dict[str, dict[str, set[str]]] = {}
        strange: set[str] = set()
        for trace in catalogue.traces():
            for more in dict.fromkeys(((), compiled)):
                setup = Setup(((trace.package, trace.version),), facts=(*_DENSE, *more))
                environment = describe(known.kb, setup)
                for subject, operator in _missing(known, trace, environment, strange):
                    held = found.setdefault(subject, {})
                    held.setdefault(trace.version, set()).add(operator)
        for subject, held in found.items():
            operators = sorted(set[str]().union(*held.values()))
            span = spans(catalogue.releases, [each in held for each in catalogue.releases])
            detail = f"{catalogue.package}: it reaches {', '.join(operators)}"
            yield AuditDifference("dispatch-without-reach", subject, span, detail)


def _missing(
    known: Known, trace: DispatchTrace, environment: Environment, strange: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield each op that lacks a source, and the operator that has it."""
    reached = {name for ways in trace.ops.values() for ops in ways.values() for name in ops}
    query = OWN_QUERIES[trace.package]
    operators = {name: query(name) for name in reached if "::" not in name}
    varying = _sources(known, environment, operators, False, strange)
    asked: dict[str, str] = {}
    for op, ways in trace.ops.items():
        for direction, reaches in ways.items():
            if any(varying.get(operator) for operator in reaches):
                asked[f"{op}:{direction}"] = f"{op}:{direction}"
    recorded = _sources(known, environment, asked, True, strange)
    for op, ways in trace.ops.items():
        for direction, reaches in ways.items():
            for operator in reaches:
                for source in varying.get(operator, set()) - recorded.get(
                    f"{op}:{direction}", set()
                ):
                    yield f"{op}:{direction}:{source}", operator


def _sources(
    known: Known,
    environment: Environment,
    asked: dict[str, str],
    harmless: bool,
    strange: set[str],
) -> dict[str, set[str]]:
    """Key -> sources of the op that is asked about; none for an unknown name. Such names
    are collected in `strange`: they are looked up once, because that takes long.
    """
    items: dict[str, OpItem] = {}
    for key, text in asked.items():
        item = find_item(known, environment, text) if text not in strange else None
        if item is None:
            strange.add(text)
        else:
            items[key] = item
    answers = resolve(known.kb, environment, list(items.values())).ops
    found = {key: set[str]() for key in asked}
    for key, answer in zip(items, answers):
        for source in answer.sources:
            if harmless or source.outcome not in HARMLESS:
                found[key].add(source.id)
    return found
