"""Operators that an op reaches: does it have the sources of the operators that it reaches?"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.authoring.audit.operators import HARMLESS, OWN_QUERIES, find_item
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.environment.environment import Environment, Setup, describe
from d9m.model.advice import SourceAnswer
from d9m.model.dispatch_facts import DispatchTrace
from d9m.model.records import Scope
from d9m.model.wheel_facts import spans
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.resolver import resolve

_DENSE = (("layout", "dense"),)
_PLAIN: tuple[tuple[str, str], ...] = ()
_ASKED: tuple[tuple[tuple[tuple[str, str], ...], Scope, str], ...] = (
    (_PLAIN, "run", "cuda"),
    ((("compile", "true"),), "run", "cuda"),
    (_PLAIN, "hardware", "cuda"),
    (_PLAIN, "batch", "cuda"),
    *((_PLAIN, "run", device) for device in ("rocm", "xpu", "mps")),
)
"""Facts, scope and device of each question. On CUDA, from run to run, an op must have every source
of what it calls; elsewhere one at least. Runs say what holds on the CPU (`cpu`).
"""


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`dispatch-without-reach`: an op lacks a source that an operator has which it reaches, in a
    program that is compiled or in one that is not.
    """
    for catalogue in shipped.dispatched:
        found: dict[str, dict[str, set[str]]] = {}
        strange: set[str] = set()
        for trace in catalogue.traces():
            for more, scope, device in _ASKED if trace.package == "torch" else _ASKED[:2]:
                facts = (*_DENSE, *(each for each in more if each[0] in known.loaded.facts))
                setup = Setup(_packages(known, trace), None, device, facts)
                asked = _Asked(known, describe(known.kb, setup), scope, strange)
                for subject, operator in _missing(asked, trace):
                    held = found.setdefault(subject, {})
                    held.setdefault(trace.version, set()).add(operator)
        for subject, held in found.items():
            operators = sorted(set[str]().union(*held.values()))
            span = spans(catalogue.releases, [each in held for each in catalogue.releases])
            detail = f"{catalogue.package}: it reaches {', '.join(operators)}"
            yield AuditDifference("dispatch-without-reach", subject, span, detail)


def _packages(known: Known, trace: DispatchTrace) -> tuple[tuple[str, str], ...]:
    """Return the package that was run, and the framework below it, which has its minor release."""
    framework = known.kb.packages[trace.package].framework
    minor = trace.version.rpartition(".")[0]
    below = ((framework, minor),) if framework is not None else ()
    return ((trace.package, trace.version), *below)


class _Asked(msgspec.Struct, frozen=True):
    """One question about all ops of a release."""

    known: Known
    environment: Environment
    scope: Scope
    strange: set[str]
    """Unknown names, of all questions: they are looked up once, because that takes long."""

    def named(self, source: SourceAnswer) -> set[str]:
        """Return what tells a source from others, or only that it is one."""
        device = self.environment.device
        if self.scope == "run" and device == "cuda":
            return {source.id}
        return {f"{self.scope}-{device}"} if source.scope == self.scope else set()


def _missing(question: _Asked, trace: DispatchTrace) -> Iterator[tuple[str, str]]:
    """Yield each op that lacks a source, and the operator that has it."""
    reached = {name for ways in trace.ops.values() for ops in ways.values() for name in ops}
    query = OWN_QUERIES[trace.package]
    operators = {name: query(name) for name in reached if "::" not in name}
    varying = _sources(question, operators, False)
    asked: dict[str, str] = {}
    for op, ways in trace.ops.items():
        for direction, reaches in ways.items():
            if any(varying.get(operator) for operator in reaches):
                asked[f"{op}:{direction}"] = f"{op}:{direction}"
    recorded = _sources(question, asked, True)
    for op, ways in trace.ops.items():
        for direction, reaches in ways.items():
            for operator, decides in reaches.items():
                if decides and question.scope != "run":
                    continue
                for source in varying.get(operator, set()) - recorded.get(
                    f"{op}:{direction}", set()
                ):
                    yield f"{op}:{direction}:{source}", operator


def _sources(question: _Asked, asked: dict[str, str], harmless: bool) -> dict[str, set[str]]:
    """Key -> sources of the op that is asked about; none for an unknown name."""
    known, environment, strange = question.known, question.environment, question.strange
    items: dict[str, OpItem] = {}
    for key, text in asked.items():
        item = find_item(known, environment, text) if text not in strange else None
        if item is None:
            strange.add(text)
        else:
            items[key] = item
    answers = resolve(known.kb, environment, list(items.values()), question.scope).ops
    found = {key: set[str]() for key in asked}
    for key, answer in zip(items, answers):
        for source in answer.sources:
            if harmless or source.outcome not in HARMLESS:
                found[key] |= question.named(source)
    return found
