"""The advice for this environment against the settings of this process."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Literal

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import FAULTS, Advice
from d9m.model.settings import Step
from d9m.resolve import values
from d9m.resolve.compare_settings import judge_existing

Status = Literal["ok", "missing", "wrong", "forbidden", "too-late", "no-effect", "unseen"]


class SettingCheck(msgspec.Struct, frozen=True):
    name: str
    expected: str | None
    found: str | None
    status: Status
    next: str
    """Next step."""


FINDINGS: tuple[Status, ...] = ("missing", "wrong", "forbidden", "too-late")
"""Statuses that make the exit code 1."""


def compare(
    kb: KnowledgeBase,
    environment: Environment,
    advice: Advice,
    variables: Mapping[str, str],
    running: bool = False,
) -> list[SettingCheck]:
    """A line for each advised setting, and for each found one that does nothing or must go.

    `running`: the variables are those with which a process started that is running now.
    """
    existing = judge_existing(kb, environment, advice, variables)
    faults = {made.name for made in existing if made.status in FAULTS}
    lines: list[SettingCheck] = []
    for step in advice.steps:
        is_right = step.name not in faults and values.is_among(kb, step, variables, environment)
        lines.append(_line(step, variables.get(step.name), is_right, step.name in faults))
    if running:
        lines = [_too_late(step, line) for step, line in zip(advice.steps, lines)]
    advised = {step.name for step in advice.steps}
    for setting in existing:
        if setting.name not in advised and setting.status in _UNADVISED:
            status = _UNADVISED[setting.status]
            tip = f"{setting.why}; drop it" if status == "no-effect" else setting.why
            lines.append(SettingCheck(setting.name, None, setting.value, status, tip))
    return lines


_UNADVISED: dict[str, Status] = {
    "no-effect": "no-effect",
    "invalid": "wrong",
    "contradictory": "wrong",
    "forbidden": "forbidden",
}
"""Statuses of settings that are not advised and not harmless."""


def _too_late(step: Step, line: SettingCheck) -> SettingCheck:
    """A variable that a running process lacks: it may have set it itself, unless that was too late
    already.
    """
    if line.status not in ("missing", "wrong", "forbidden"):
        return line
    if step.read_at == "process-start":
        return msgspec.structs.replace(
            line, status="too-late", next=f"restart it with: {line.next}"
        )
    if line.status == "missing":
        return msgspec.structs.replace(
            line, status="unseen", next=f"fine if the program set it before {step.read_at}"
        )
    return line


def _line(step: Step, found: str | None, is_right: bool, is_fault: bool) -> SettingCheck:
    if step.kind == "unset":
        if found is None:
            return SettingCheck(step.name, None, None, "ok", "")
        return SettingCheck(step.name, None, found, "forbidden", f"unset {step.name}")
    if step.kind not in ("env", "append"):
        return SettingCheck(
            step.text or step.name,
            step.value,
            None,
            "unseen",
            "lives in your program or its launch line",
        )
    if found is not None and is_right:
        return SettingCheck(step.name, step.value, found, "ok", "")
    status: Status = "missing" if found is None else "wrong"
    line = _export(step, None if is_fault else found)
    return SettingCheck(step.name, step.value, found, status, line)


def _export(step: Step, found: str | None) -> str:
    """The line for the shell: a list keeps what it holds, unless that is refused."""
    value = shlex.quote(step.value or "")
    if step.kind == "append" and found:
        return f'export {step.name}="${step.name}"{shlex.quote(step.separator or " ")}{value}'
    return f"export {step.name}={value}"
