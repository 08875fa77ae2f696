"""Judge the settings that somebody has already made against the advice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from d9m.advice import Advice, Existing, Step
from d9m.environment import Environment
from d9m.failures import DataError, quote
from d9m.kb.tables import KnowledgeBase
from d9m.records import Setting

_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*?)\s*")


def read_env_file(text: str, file: str) -> dict[str, str]:
    """NAME=value lines, as Docker and systemd read them: ``#`` comments, optional quotes and ``export``.

    Raises DataError with line and column for anything else.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            column = len(line) - len(line.lstrip()) + 1
            raise DataError(f"{file}:{number}:{column}: expected NAME=value, found {quote(line)}")
        value = match["value"]
        if value[:1] in "'\"" and value:
            if len(value) < 2 or value[-1] != value[0]:
                column = match.start("value") + 1
                raise DataError(f"{file}:{number}:{column}: this quote is never closed: {quote(value)}")
            value = value[1:-1]
        found[match["name"]] = value
    return found


def judge_existing(
    kb: KnowledgeBase, environment: Environment, advice: Advice, found: Mapping[str, str]
) -> list[Existing]:
    """One verdict for each variable that the knowledge base knows, in order of name."""
    settings = (kb.setting(name) for name in sorted(found) if kb.get("settings", name) is not None)
    steps = {step.name: step for step in advice.steps if step.kind in ("env", "unset", "append")}
    return [
        _judge(kb, environment, setting, found[setting.name], steps.get(setting.name))
        for setting in settings
        if setting.kind == "env"
    ]


def _judge(kb: KnowledgeBase, environment: Environment, setting: Setting, value: str, step: Step | None) -> Existing:
    if setting.effect == "never":
        instead = f"; {setting.instead} was meant" if setting.instead else ""
        return Existing(setting.name, value, "no-effect", f"nothing reads it{instead}")
    if step is not None and step.kind == "unset":
        return Existing(setting.name, value, "forbidden", f"must be absent: {step.why}")
    if setting.accepts and setting.list_ is None and value not in setting.accepts:
        return Existing(setting.name, value, "invalid", f"accepted: {', '.join(setting.accepts)}")
    if step is not None:
        return _against(step, value)
    if not environment.holding(setting.when):
        return Existing(setting.name, value, "no-effect", "nothing reads it in this environment")
    return Existing(setting.name, value, "harmless", "not needed for what you asked")


def _against(step: Step, value: str) -> Existing:
    if step.satisfied_by(value):
        return Existing(step.name, value, "needed", step.why)
    needed = " ".join(step.accepts) if step.kind == "append" else " or ".join(step.accepts)
    return Existing(step.name, value, "contradictory", f"needed: {needed}")


def with_existing(advice: Advice, existing: Iterable[Existing]) -> Advice:
    """The advice, saying also what is already set."""
    return msgspec.structs.replace(advice, existing=list(existing))
