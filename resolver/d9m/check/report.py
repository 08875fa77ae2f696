"""The answer of `d9m check`, version 1 of its JSON."""

from __future__ import annotations

from typing import Any

import msgspec

import d9m
from d9m.advice import SCHEMA_VERSION, Advice, Tool
from d9m.check.host import Host
from d9m.check.settings import FINDINGS, Setting


class Summary(msgspec.Struct, frozen=True):
    probed: int = 0
    nondeterministic: int = 0
    fixed: int = 0
    not_fixed: int = 0
    raised: int = 0
    contradictions: int = 0
    could_not_run: int = 0


class Report(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    host: Host
    settings: list[Setting]
    probes: list[dict[str, Any]]
    """None yet: this release compares settings and does not run ops."""
    summary: Summary


def report(advice: Advice, host: Host, settings: list[Setting]) -> Report:
    return Report(SCHEMA_VERSION, Tool(d9m.__version__, advice.d9m.kb_date), host, settings, [], Summary())


def exit_code(report: Report) -> int:
    """1 for a finding; else 4, because no probe could run."""
    return 1 if any(each.status in FINDINGS for each in report.settings) else 4
