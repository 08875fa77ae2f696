"""The ops that a program really called, as items of a question (`--ops`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.resolve import op_lookup
from d9m.resolve.op_lookup import OpCall, OpItem
from d9m.trace import folder
from d9m.trace.cause_advice import queries
from d9m.trace.findings import FROM_PYTHON, Cause
from d9m.trace.reading import RecordStream
from d9m.trace.stream_records import JITTED, CalledOp, Site, StreamHeader, named_arguments


class CallKind(msgspec.Struct, frozen=True):
    """Calls of an op that are alike for the knowledge base."""

    op: str
    phase: str
    node: str
    arguments: tuple[tuple[str, str], ...]
    dtype: str


class ProgramOps(msgspec.Struct, frozen=True):
    """The ops that a program called. Each is in one of both."""

    items: tuple[str, ...]
    """Items of a question, in the order of their first call."""
    unknown: tuple[str, ...]
    """Ops that neither a record nor a catalogue knows."""


def called_ops(kb: KnowledgeBase, path: Path) -> ProgramOps:
    """Raises DataError where `path` is not a recording, UsageError for one without ops."""
    folder.about(path)
    streams = [RecordStream(file) for file in folder.streams(path)]
    calls: dict[CallKind, None] = {}
    for stream in streams:
        calls.update(dict.fromkeys(_calls(stream)))
    if not calls:
        raise UsageError(
            f"{path} holds no ops", tip="record them: d9m trace --level op --steps 1 -o RUN -- …"
        )
    environment = _environment(kb, streams[0].header)
    items: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for call in calls:
        item = next(_understood(kb, environment, _decisive(kb, environment, call)), None)
        if item is None:
            unknown[call.op] = None
        else:
            items[item.text] = None
    return ProgramOps(tuple(items), tuple(unknown))


def _calls(stream: RecordStream) -> Iterator[CallKind]:
    seen: set[tuple[int, str]] = set()
    while (placed := stream.next()) is not None:
        record = placed.record
        if not isinstance(record, CalledOp) or (record.site, record.arguments) in seen:
            continue
        site = stream.sites[record.site]
        if site.op == FROM_PYTHON or site.phase == JITTED:
            continue
        seen.add((record.site, record.arguments))
        yield _kind(site, record.arguments)


def _kind(site: Site, arguments: str) -> CallKind:
    shape = site.shapes[0] if site.shapes else ""
    named = tuple(named_arguments(arguments).items())
    return CallKind(site.op, site.phase, site.node or "", named, shape.partition("[")[0])


def _environment(kb: KnowledgeBase, header: StreamHeader) -> Environment:
    """Return what the program ran on."""
    known = [name for name in header.packages if name in kb.meta.prefixes]
    packages = tuple((name, header.packages[name]) for name in known)
    return describe(kb, Setup(packages, device=(header.device or "cpu").partition(":")[0]))


def _decisive(kb: KnowledgeBase, environment: Environment, call: CallKind) -> CallKind:
    """A call without the arguments that no record asks about, such as the bounds of `uniform_`."""
    said = _said(kb, environment, call)
    for argument in call.arguments:
        others = tuple(other for other in call.arguments if other != argument)
        shorter = msgspec.structs.replace(call, arguments=others)
        if _said(kb, environment, shorter) == said:
            call = shorter
    return call


def _said(kb: KnowledgeBase, environment: Environment, call: CallKind) -> list[OpCall]:
    """Return what a call says that records can ask about. Its direction depends on the way to
    ask.
    """
    item = next(_understood(kb, environment, call), None)
    ops = item.ops if item is not None else ()
    return [msgspec.structs.replace(op, directions=()) for op in ops]


def _understood(kb: KnowledgeBase, environment: Environment, call: CallKind) -> Iterator[OpItem]:
    """The ways to ask for an op that are understood, the most exact first."""
    fact = kb.meta.facts["dtype"]
    dtype = fact.parameters["dtype"].get(call.dtype, call.dtype)
    for text in _texts(call, dtype if dtype != fact.default else ""):
        try:
            item = op_lookup.find(kb, environment, op_syntax.parse(text))
        except UsageError:
            continue
        if item.lacks is None:
            yield item


def _texts(call: CallKind, dtype: str) -> Iterable[str]:
    """Each query with the type of the first input, if it is not the usual one; then without."""
    asked = Cause(
        kind="op", process="", step=0, record=0,
        op=call.op, phase=call.phase, node=call.node, arguments=dict(call.arguments),
    )  # fmt: skip
    for text in queries(asked):
        if dtype and "dtype" not in text:
            yield f"{text}:dtype={dtype}"
        yield text
