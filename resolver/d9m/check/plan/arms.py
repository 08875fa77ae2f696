"""The arms of a probe: the settings of its process, and the statements that run first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from d9m.check.plan import catalogue
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice
from d9m.model.records import Setting, SettingChange, together
from d9m.model.settings import Step
from d9m.resolve.merge import Demand, demands, merge

Statement = tuple[list[str], str, bool]
"""Imports, the line to run after them, and whether that comes before the framework's import."""


class Arm(msgspec.Struct, frozen=True):
    name: str
    env: dict[str, str] = {}
    unset: list[str] = []
    statements: list[Statement] = []
    threads: Literal["many", "one", "own"] = "many"
    """On a CPU: more than there are cores, a single one, or what the environment says."""
    same_as: str | None = None
    """Another arm with the same settings: it is run once."""
    left_out: list[str] = []
    """Advised settings that no bare process can make: packages, flags of a program, edits at a
    call.
    """


def arms(
    kb: KnowledgeBase,
    environment: Environment,
    advice: Advice,
    framework: str,
    variables: Mapping[str, str],
    full: bool = False,
) -> list[Arm]:
    """Return all arms for one framework, in the order of the report."""
    cleared, removed = _cleared(kb, variables)
    default = Arm("default", cleared, removed)
    own = environment.device == "cpu" or _touched(kb, variables)
    asis = Arm("as-is", threads="own", same_as=None if own else "default")
    advised = _advised(kb, advice, framework, default)
    found = [default, asis, advised, msgspec.structs.replace(default, name="default-again")]
    unfilled = _unfilled(kb, environment, framework)
    if unfilled is not None:
        statements = [*advised.statements, unfilled]
        found.append(
            msgspec.structs.replace(advised, name="advised-no-fill", statements=statements)
        )
    if full and environment.device == "cpu":
        found.append(msgspec.structs.replace(default, name="one-thread", threads="one"))
    return found


def with_switches(kb: KnowledgeBase, environment: Environment, advice: Advice) -> Advice:
    """Return the advice with the settings that make an op raise: alone, such an op gets none."""
    wanted: list[Demand] = []
    for label, _id, solution in kb.with_required(_switches(advice)):
        wanted += demands(kb, environment, label, solution.settings)
    made = {step.name for step in advice.steps}
    steps = [step for step in merge(wanted).steps if step.name not in made]
    return msgspec.structs.replace(advice, steps=[*advice.steps, *steps]) if steps else advice


def _switches(advice: Advice) -> set[str]:
    """Labels of the solutions under which some op of the advice raises."""
    found: set[str] = set()
    for op in advice.ops:
        for source in op.sources:
            for answer in (source, *source.possible):
                found.update(together(answer.raised_by or ""))
    return found


def _env_settings(kb: KnowledgeBase) -> list[Setting]:
    return [setting for setting in kb.settings.values() if setting.kind == "env"]


def _cleared(kb: KnowledgeBase, variables: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return what to set and to unset so that no determinism setting is left; a list keeps its
    other items.
    """
    keep: dict[str, str] = {}
    remove: list[str] = []
    for setting in _env_settings(kb):
        value = variables.get(setting.name, "")
        known = {item.partition("=")[0] for item in _wanted(kb, setting.name)}
        items = value.split(setting.list_) if setting.list_ is not None else []
        others = [item for item in items if item and item.partition("=")[0] not in known]
        if others:
            keep[setting.name] = (setting.list_ or "").join(others)
        else:
            remove.append(setting.name)
    return keep, remove


def _wanted(kb: KnowledgeBase, name: str) -> set[str]:
    """Return every value that some solution gives a setting."""
    found: set[str] = set()
    for change in _changes(kb):
        if change.set == name:
            found.update(change.to)
    return found


def _changes(kb: KnowledgeBase) -> Iterator[SettingChange]:
    for solution in kb.solutions.values():
        yield from solution.settings


def _touched(kb: KnowledgeBase, variables: Mapping[str, str]) -> bool:
    """Whether a variable is set that a solution sets; seeds do not count."""
    names = {change.name for change in _changes(kb)} - _seeds(kb)
    return any(setting.name in variables and setting.name in names for setting in _env_settings(kb))


def _seeds(kb: KnowledgeBase) -> set[str]:
    """Return what every reproducible program sets, whichever ops it calls."""
    found: set[str] = set()
    for ingredient in kb.ingredients.values():
        if ingredient.scope == "run":
            found.update(change.name for change in ingredient.settings)
    return found


def _advised(kb: KnowledgeBase, advice: Advice, framework: str, base: Arm) -> Arm:
    env, unset = dict(base.env), set(base.unset)
    statements: list[Statement] = []
    left_out: list[str] = []
    for step in advice.steps:
        if step.kind == "env" and step.value is not None:
            env[step.name] = step.value
        elif step.kind == "append":
            env[step.name] = (step.separator or " ").join(
                [*filter(None, [env.get(step.name)]), *step.accepts]
            )
        elif step.kind == "unset":
            env.pop(step.name, None)
            unset.add(step.name)
        elif step.kind == "python":
            if not _of_another(kb, step, framework):
                statements.append((step.imports, step.text or step.name, step.before_import))
        else:
            left_out.append(step.text or step.name)
    return Arm("advised", env, sorted(unset - env.keys()), statements, left_out=left_out)


def _of_another(kb: KnowledgeBase, step: Step, framework: str) -> bool:
    """Whether a statement belongs to a framework that this process does not run."""
    others: set[str] = set()
    for other in catalogue.FRAMEWORKS:
        if other != framework:
            others.update(kb.packages[other].imports)
    return bool(_modules(step.imports) & others)


def _modules(imports: Iterable[str]) -> set[str]:
    """``import torch.utils.deterministic`` -> torch."""
    return {line.split()[1].partition(".")[0] for line in imports if len(line.split()) > 1}


def _unfilled(kb: KnowledgeBase, environment: Environment, framework: str) -> Statement | None:
    name = catalogue.about(framework).fill
    setting = kb.settings.get(name) if name else None
    if setting is None or setting.statement is None or not environment.holding(setting.condition):
        return None
    return list(setting.imports), setting.statement.replace("{value}", "False"), False
