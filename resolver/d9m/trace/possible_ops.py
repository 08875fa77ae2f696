"""Ops of a recorded step that could have begun a difference, where none was seen to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from d9m.trace import folder
from d9m.trace.causes_found import at_site
from d9m.trace.findings import Cause, Findings
from d9m.trace.memory import NO_CONTENT, bits
from d9m.trace.process import name
from d9m.trace.reading import RecordStream
from d9m.trace.stream_records import CalledOp, named_arguments


def modules(found: Findings | None) -> tuple[str, ...]:
    """Modules whose ops can have begun what a comparison of modules shows first; none: any can."""
    first = found.causes[0] if found is not None and found.causes else None
    if first is None or first.kind != "state":
        return ()
    if first.parameter is not None:
        return (first.parameter.rpartition(".")[0],)
    if first.module is None:
        return ()
    if first.argument == "gradients":  # what came back to it, from a module next to it
        return (first.module.rpartition(".")[0] or first.module,)
    return (first.module,)


def called(path: Path, within: Sequence[str]) -> list[Cause]:
    """Return each op of a recording with its first call, as a cause that was not seen to differ;
    only those in these modules and in what encloses them, if any are named. The knowledge base
    says which of them are nondeterministic.
    """
    found: dict[tuple[str | None, ...], Cause] = {}
    for file in folder.streams(path):
        stream = RecordStream(file)
        while (placed := stream.next()) is not None:
            record = placed.record
            if not isinstance(record, CalledOp):
                continue
            if record.generator is not None or _makes_memory(record):
                continue  # equal with an equal generator; nothing is in it yet
            site = stream.sites[record.site]
            key = (site.op, site.overload, site.phase, site.node, record.arguments)
            if key in found or not _is_within(site.module or "", within):
                continue
            cause = Cause(
                kind="op",
                process=name(stream),
                step=placed.step,
                record=placed.number,
                certain=False,
                arguments=named_arguments(record.arguments),
            )
            found[key] = at_site(cause, site)
    return list(found.values())


def _is_within(module: str, within: Sequence[str]) -> bool:
    if not within or not module:
        return True
    path = f"{module}."
    return any(path.startswith(f"{one}.") or one.startswith(path) for one in within)


def _makes_memory(record: CalledOp) -> bool:
    """Whether it returns uninitialised memory."""
    contents = [bits(text).content for text in record.outputs]
    return bool(contents) and not record.inputs and set(contents) == {NO_CONTENT}
