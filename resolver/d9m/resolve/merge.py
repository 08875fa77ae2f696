"""Merge what several solutions turn into one list of settings without contradictions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model import conditions
from d9m.model.records import Setting, SettingChange
from d9m.model.settings import Avoided, Edit, Kind, Settings, Step
from d9m.model.when import Clause


class Demand(msgspec.Struct, frozen=True):
    """One solution (or ingredient) wants one setting made."""

    by: str
    """Label, or id of an ingredient."""
    setting: Setting
    turn: SettingChange
    when: tuple[Clause, ...] = ()
    """Where it is needed; none: everywhere."""
    automatic: bool = False
    """The solution does it: nothing is left for the user, but nothing may contradict it."""

    @property
    def accepted(self) -> tuple[str, ...] | None:
        """Values that would do; None where the setting must be absent."""
        return None if self.turn.set is None else tuple(self.turn.to)


class SettingConflict(msgspec.Struct, frozen=True):
    """One setting for which several want different values."""

    name: str
    parties: dict[str, tuple[str, ...]]
    """Label, ingredient or call -> values that would do."""


class Merged(msgspec.Struct, frozen=True):
    steps: tuple[Step, ...]
    conflicts: tuple[SettingConflict, ...]


def demands(
    kb: KnowledgeBase,
    environment: Environment,
    by: str,
    turns: Iterable[SettingChange],
    when: Sequence[Clause] = (),
    automatic: bool = False,
) -> list[Demand]:
    """The turns that are needed here, each with what would still have to hold for it."""
    found: list[Demand] = []
    for turn in turns:
        here = both(when or [{}], environment.holding(turn.condition))
        if here:
            setting = kb.settings[turn.name]
            found.append(Demand(by, setting, turn, () if {} in here else here, automatic))
    return found


def both(first: Sequence[Clause], second: Sequence[Clause]) -> tuple[Clause, ...]:
    """Where one of `first` and one of `second` hold; none: nowhere."""
    common = [conditions.meet(one, other) for one in first for other in second]
    return tuple(clause for clause in common if clause is not None)


def merge(wanted: Sequence[Demand]) -> Merged:
    """Return a step for every setting, in the order of the work, without conflicting ones."""
    steps: list[Step] = []
    conflicts: list[SettingConflict] = []
    by_setting: dict[str, list[Demand]] = {}
    for demand in wanted:
        by_setting.setdefault(demand.setting.name, []).append(demand)
    for name, all_ in by_setting.items():
        for group, values in _compatible(all_):
            if values is None:
                conflicts.append(_conflict(name, group))
            elif not all(demand.automatic for demand in group):
                steps.append(_step(group, values))
    return Merged(tuple(sorted(steps, key=place)), tuple(conflicts))


_Group: TypeAlias = tuple[list[Demand], tuple[str, ...] | None]
"""Demands that share a step, with the values that suit them all; None: there are none."""


def _compatible(group: list[Demand]) -> list[_Group]:
    """The demands for one setting, those separated that no release has together.

    The items of a list variable are separated, too, where their conditions differ:
    a release may stop at an item that it does not know.
    """
    is_list = group[0].setting.list_ is not None
    values = _common(group)
    if len(group) == 1 or (not is_list and values is not None and not _by_release(group)):
        return [(group, values)]
    parts: dict[object, list[Demand]] = {}
    for demand in group:
        parts.setdefault(str(demand.when) if is_list else demand.accepted, []).append(demand)
    if values is None:
        for first, second in itertools.combinations(parts.values(), 2):
            if any(_overlap(one, other) for one, other in itertools.product(first, second)):
                return [(group, None)]
    return [(part, _common(part)) for part in parts.values()]


def _by_release(group: Sequence[Demand]) -> bool:
    """Whether each release has its own value, any of which may be replaced by another."""
    if not all(demand.turn.any_value and demand.when for demand in group):
        return False
    pairs = list(itertools.combinations(group, 2))
    differ = any(first.accepted != second.accepted for first, second in pairs)
    return differ and not any(_overlap(first, second) for first, second in pairs)


def _overlap(first: Demand, second: Demand) -> bool:
    return bool(both(first.when or [{}], second.when or [{}]))


ABSENT: tuple[str, ...] = ("(unset)",)
"""The value of a setting that must be absent."""


def _common(group: Sequence[Demand]) -> tuple[str, ...] | None:
    """Values that everyone accepts, in the first one's order; None if there are none."""
    if len(group) == 1 and group[0].setting.list_ is None:
        return group[0].accepted or ()
    first, *others = [demand.accepted for demand in group]
    if any((accepted is None) != (first is None) for accepted in others):
        return None
    if first is None:
        return ()
    if group[0].setting.list_ is not None:
        return _united(group)
    strict = [demand.accepted or () for demand in group if not demand.turn.any_value] or [first]
    values: tuple[str, ...] = strict[0]
    for accepted in strict:
        if accepted:
            values = tuple(value for value in values if value in accepted)
    return values if values or not any(strict) else None


def _united(group: Sequence[Demand]) -> tuple[str, ...] | None:
    """All items of a list variable; None if one of them is wanted with two values."""
    items = tuple(dict.fromkeys(value for demand in group for value in demand.accepted or ()))
    named = [item.partition("=")[0] for item in items if "=" in item]
    return items if len(named) == len(set(named)) else None


def _conflict(name: str, group: Sequence[Demand]) -> SettingConflict:
    parties: dict[str, tuple[str, ...]] = {}
    for demand in group:
        accepted = ABSENT if demand.accepted is None else demand.accepted
        if demand.setting.list_ is not None:
            accepted = (demand.setting.list_.join(accepted),)
        values = parties.get(demand.by, ()) + accepted
        parties[demand.by] = tuple(dict.fromkeys(values))
    return SettingConflict(name, parties)


_KINDS: dict[str, Kind] = {
    "env": "env",
    "python": "python",
    "flag": "flags",
    "config": "config",
    "install": "install",
    "code": "code",
}


def _step(group: Sequence[Demand], values: tuple[str, ...]) -> Step:
    users = [demand for demand in group if not demand.automatic]
    setting = users[0].setting
    kind = _KINDS[setting.kind]
    if users[0].turn.set is None:
        kind = "unset" if setting.kind == "env" else "avoid"
    elif setting.list_ is not None:
        kind = "append"
    value = None
    if values:
        value = values[0] if setting.list_ is None else setting.list_.join(values)
    notes = dict.fromkeys(
        part for demand in users for part in (demand.turn.note or "").split("; ") if part
    )
    everywhere = any(not demand.when for demand in users)
    clauses: list[Clause] = []
    if not everywhere:
        clauses = conditions.united(clause for demand in users for clause in demand.when)
    return Step(
        kind=kind,
        name=setting.name,
        value=value,
        read_at=setting.read,
        when=None if everywhere or {} in clauses else clauses,
        why="; ".join(notes) or setting.summary,
        solutions=list(dict.fromkeys(demand.by for demand in users)),
        accepts=list(values),
        any_value=all(demand.turn.any_value for demand in users),
        refuses=list(setting.refuses),
        imports=list(setting.imports),
        before_import=setting.before_import,
        separator=setting.list_,
        text=line(setting, value),
        where=setting.where,
        value_type=setting.value_type,
        setting_kind=setting.kind,
        note="; ".join(notes) or None,
    )


def line(setting: Setting, value: str | None) -> str | None:
    """The line to write, where it is not plain from name and value."""
    if setting.statement is not None:
        return setting.statement.replace("{value}", value or "")
    if setting.kind == "install":
        return f"{setting.name}=={value}"
    if setting.kind == "flag":
        return setting.name if value is None else f"{setting.name} {value}"
    return None


ORDER: tuple[Kind, ...] = (
    "install",
    "unset",
    "env",
    "append",
    "python",
    "flags",
    "config",
    "code",
    "avoid",
)
"""A person installs, sets the shell, then edits the program and its command line."""


def place(step: Step) -> tuple[int, bool]:
    """The place of a setting in the order of a person's work."""
    return ORDER.index(step.kind), not step.before_import


def total(steps: Iterable[Step]) -> Settings:
    """The steps as one object, by kind."""
    found: dict[str, Any] = {
        "env": {},
        "append": {},
        "unset": [],
        "python": [],
        "flags": [],
        "config": {},
        "install": [],
        "code": [],
        "avoid": [],
    }
    for step in steps:
        part = found[step.kind]
        if step.kind == "env":
            part[step.name] = step.value
        elif step.kind == "append":
            part[step.name] = [*part.get(step.name, ()), *step.accepts]
        elif step.kind == "unset":
            part.append(step.name)
        elif step.kind == "config":
            part[step.name] = typed(step)
        elif step.kind == "code":
            part.append(Edit(step.where or step.name, step.text or step.value or step.why))
        elif step.kind == "avoid":
            part.append(Avoided(step.setting_kind, step.name, step.why))
        else:
            part += [line_ for line_ in step.imports if line_ not in part]
            part.append(step.text or step.name)
    return Settings(**found)


def alone(kb: KnowledgeBase, asked: Sequence[Demand]) -> Settings:
    """Return all settings of one solution or ingredient; remembered where nothing is
    undecided.
    """
    if any(demand.when for demand in asked):
        return total(merge(asked).steps)
    what = tuple(map(_identity, asked))
    return kb.once(("alone", what), lambda: total(merge(asked).steps))


def _identity(demand: Demand) -> tuple[str, str, tuple[str, ...] | None, str | None]:
    """Return the key of a demand where nothing is undecided."""
    return demand.by, demand.turn.name, demand.accepted, demand.turn.note


def typed(step: Step) -> str | int | bool:
    """The value of a config key in its type."""
    value = step.value or ""
    if step.value_type == "integer":
        return int(value)
    return value == "true" if step.value_type == "boolean" else value
