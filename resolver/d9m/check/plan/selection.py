"""The probes to run: all that fit, or those that were named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from d9m.check.plan import catalogue
from d9m.check.plan.catalogue import Probe, Selected
from d9m.environment.environment import Environment
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.model.op_syntax import Query
from d9m.resolve import op_lookup
from d9m.resolve.op_lookup import OpCall


class ProbeRequest(msgspec.Struct, frozen=True):
    """A request for probes."""

    ops: list[str] | None = None
    """Names of probes, of records, or of ops as `d9m advise` takes them; None: all."""
    quick: bool = False
    full: bool = False


def select(
    kb: KnowledgeBase, environment: Environment, probes: Iterable[Probe], request: ProbeRequest
) -> list[Selected]:
    """The probes to run on the environment's device. Raises UsageError for an item without one."""
    here = [probe for probe in probes if environment.device in probe.devices]
    if request.ops is not None:
        here = named(kb, environment, here, request.ops)
    elif request.quick:
        here = [probe for probe in here if probe.quick]
    found: list[Selected] = []
    for probe in here:
        dtypes = probe.dtypes if request.full else probe.dtypes[:1]
        found += [Selected(probe, dtype) for dtype in dtypes]
    return found


def named(
    kb: KnowledgeBase, environment: Environment, probes: Sequence[Probe], items: Iterable[str]
) -> list[Probe]:
    """Return those that the items name, each once. Raises UsageError for an item that names
    none.
    """
    ops = {probe.id: _ops(kb, environment, op_syntax.parse(probe.item)) for probe in probes}
    found: dict[str, Probe] = {}
    for item in items:
        query = op_syntax.parse(item)
        meant = [] if "/" in query.name else _ops(kb, environment, query)
        own: dict[str, Probe] = {}
        for probe in probes:
            if _is_named(probe, query) or _is_meant(probe, ops[probe.id], meant):
                own[probe.id] = probe
        if not own:
            raise _between_processes(kb, environment, probes, item, query, meant) or _unknown(
                probes, item, query, meant
            )
        found.update(own)
    return list(found.values())


def _ops(kb: KnowledgeBase, environment: Environment, query: Query) -> list[OpCall]:
    """Return the ops that a name means to `d9m advise`; an unknown name means none."""
    try:
        return list(op_lookup.find(kb, environment, query).ops)
    except UsageError:
        return []


def _is_named(probe: Probe, query: Query) -> bool:
    """Whether the query names the probe: its id, its record, its op with or without the path."""
    return (
        op_syntax.plain(query.name) in _names(probe)
        and probe.direction in query.directions
        and _agree(op_syntax.parse(probe.item).arguments, query.arguments)
    )


def _is_meant(probe: Probe, own: Sequence[OpCall], meant: Sequence[OpCall]) -> bool:
    """Whether one of the ops that are meant is the op of the probe, called so."""
    for op in meant:
        if probe.direction not in op.directions:
            continue
        for other in own:
            if op.name == other.name and _agree(other.arguments, op.arguments):
                return True
    return False


def _agree(own: dict[str, str], asked: dict[str, str]) -> bool:
    return all(own.get(name, value) == value for name, value in asked.items())


def _names(probe: Probe) -> set[str]:
    names = {probe.id, probe.id.partition("/")[2], probe.op, probe.op.rpartition(".")[2]}
    if probe.source:
        names |= {probe.source, probe.source.partition("/")[2]}
    return {op_syntax.plain(name) for name in names}


def _between_processes(
    kb: KnowledgeBase,
    environment: Environment,
    probes: Sequence[Probe],
    item: str,
    query: Query,
    meant: Sequence[OpCall],
) -> UsageError | None:
    """Return what to say of an item that names a collective, which no process runs alone."""
    for framework in dict.fromkeys(probe.framework for probe in probes):
        for probe in catalogue.collectives(framework):
            own = _ops(kb, environment, op_syntax.parse(probe.item))
            if _is_named(probe, query) or _is_meant(probe, own, meant):
                command = f"torchrun --nproc-per-node={probe.ranks} -m d9m check"
                return UsageError(
                    f"{quote(item)} runs between processes; --ops takes what one process runs",
                    tip=f"every check of {probe.ranks} or more processes runs it, too: {command}",
                )
    return None


def _unknown(
    probes: Sequence[Probe], item: str, query: Query, meant: Sequence[OpCall]
) -> UsageError:
    if meant:
        ops = ", ".join(dict.fromkeys(op.name for op in meant))
        return UsageError(
            f"no probe here exercises {quote(item)} ({ops})", tip="see: d9m check --list"
        )
    known = sorted({name for probe in probes for name in _names(probe)})
    close = nearest(op_syntax.plain(query.name), known)
    return UsageError(
        f"no probe here for {quote(item)}", nearest=close, tip="see: d9m check --list"
    )
