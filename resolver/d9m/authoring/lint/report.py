"""Faults as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.kb.yaml_files import Fault
from d9m.render.phrases import plural


class FaultCounts(msgspec.Struct, frozen=True):
    faults: int
    files: int
    by_rule: dict[str, int]


class LintReport(msgspec.Struct, frozen=True):
    """The answer of `d9m kb lint`."""

    schema_version: int
    faults: list[Fault]
    counts: FaultCounts


def as_text(faults: Sequence[Fault]) -> str:
    """One paragraph a fault, ``file:line: [code] message`` first, and a count at the end."""
    lines: list[str] = []
    for fault in faults:
        lines.append(f"{fault.file}:{fault.line}: [{fault.rule}] {fault.message}")
        for name in ("field", "value", "allowed", "tip"):
            text = getattr(fault, name)
            if text:
                lines.append(f"    {name + ':':9}{text}")
    return "\n".join([*lines, _count(faults)])


def _count(faults: Sequence[Fault]) -> str:
    files = len({each.file for each in faults})
    return f"{plural(len(faults), 'fault')} in {plural(files, 'file')}" if faults else "no faults"


def as_json(faults: Sequence[Fault]) -> str:
    """One object: the faults, and how many there are by rule."""
    by_rule = dict(sorted(Counter(each.rule for each in faults).items()))
    counts = FaultCounts(len(faults), len({each.file for each in faults}), by_rule)
    whole = LintReport(SCHEMA_VERSION, list(faults), counts)
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()
