"""Compare settings that are already made with the advice."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice, Existing
from d9m.model.records import Setting, SettingChange, Solution
from d9m.model.settings import Kind, PlainValue, Step, as_text
from d9m.resolve.answers import cite
from d9m.resolve.conflicts import party

LIKE = 0.93
"""How alike a name must be to one that is known to pass for a slip of the finger. Of the variables
that wheels read and no record names, the nearest to a known one reaches 0.92."""


def judge_existing(
    kb: KnowledgeBase, environment: Environment, advice: Advice, found: Mapping[str, PlainValue]
) -> list[Existing]:
    """One verdict for each setting that the knowledge base knows, or that is misspelt, in order
    of name.
    """
    verdicts: list[Existing] = []
    for name in sorted(found):
        verdicts += _verdicts(kb, environment, advice, name, found[name])
    return verdicts


def missing(
    kb: KnowledgeBase, advice: Advice, places: Sequence[Mapping[str, PlainValue]]
) -> list[str]:
    """List the advised settings that are in none of the places that could hold them."""
    kinds = set[Kind]().union(*(_kinds(kb, advice, place) for place in places))
    found = {name: value for place in places for name, value in place.items()}
    lacking: dict[str, None] = {}
    for step in advice.steps:
        if step.covered_by is None and step.kind in kinds and not _is_there(step, found):
            lacking[step.name] = None
    return list(lacking)


def _kinds(kb: KnowledgeBase, advice: Advice, place: Mapping[str, PlainValue]) -> set[Kind]:
    """Return the kinds of settings that a place could hold, by the known names in it.

    Keys of a configuration that a package of the environment reads are no environment variables;
    whatever else is there is taken for an environment, unless the advice has no variables.
    """
    kinds: set[Kind] = set()
    for name in place:
        setting = kb.settings.get(name)
        if setting is not None and setting.kind in _JUDGED and _is_read(kb, advice, setting):
            kinds.add(setting.kind)
    variables: set[Kind] = {"env", "append"}
    if "env" in kinds or "config" not in kinds:
        kinds |= variables
    if kinds == variables and not any(step.kind in variables for step in advice.steps):
        kinds.add("config")
    return kinds


def _is_read(kb: KnowledgeBase, advice: Advice, setting: Setting) -> bool:
    """Return whether a package of the environment may read a setting."""
    clauses = setting.when if isinstance(setting.when, list) else [setting.when]
    readers = {name for clause in clauses for name in clause if name in kb.packages}
    return not readers or not readers.isdisjoint(advice.environment.packages)


def _is_there(step: Step, found: Mapping[str, PlainValue]) -> bool:
    if step.name not in found:
        return False
    return step.kind != "append" or step.satisfied_by(str(found[step.name]))


_JUDGED: tuple[Literal["env", "config", "python"], ...] = ("env", "config", "python")
"""Kinds of settings that a file can hold as a name with a value."""


def _verdicts(
    kb: KnowledgeBase, environment: Environment, advice: Advice, name: str, value: PlainValue
) -> Iterator[Existing]:
    """One verdict for a setting that the knowledge base knows, and one for each item of a list that
    is at fault.
    """
    setting = kb.settings.get(name)
    if setting is None:
        meant = nearest_setting(kb, name)
        if meant is not None:
            why = f"nothing reads this name; {meant} was meant"
            yield Existing(name, as_text(value), "misspelt", why)
        return
    if setting.kind not in _JUDGED:
        return
    case = _Case(kb, environment, advice, setting, value)
    yield case.verdict()
    for item in case.items if setting.list_ is not None else ():
        name, equals, inside = item.partition("=")
        known = kb.settings.get(name)
        if known is not None:
            inner = _Case(kb, environment, advice, known, inside if equals else "").verdict()
            if inner.status not in ("needed", "harmless"):
                yield inner


def nearest_setting(kb: KnowledgeBase, name: str) -> str | None:
    """The setting whose name is almost this one."""
    by_lower = kb.once(
        "judged settings",
        lambda: {
            known.lower(): known for known in kb.settings if kb.settings[known].kind in _JUDGED
        },
    )
    near = difflib.get_close_matches(name.lower(), by_lower, 1, LIKE)
    return by_lower[near[0]] if near else None


def _either(step: Step) -> str:
    return " or ".join(step.accepts)


class _Case:
    """One setting with its value, in one answer."""

    def __init__(
        self,
        kb: KnowledgeBase,
        environment: Environment,
        advice: Advice,
        setting: Setting,
        value: PlainValue,
    ) -> None:
        self.kb = kb
        self.environment = environment
        self.advice = advice
        self.setting = setting
        self.typed = value
        self.value = str(value) if setting.kind == "python" else as_text(value)
        self.items = self.value.split(setting.list_) if setting.list_ is not None else [self.value]
        self.steps = [step for step in advice.steps if step.name == setting.name]

    def verdict(self) -> Existing:
        for judge in (self._dead, self._replaced, self._forbidden, self._invalid, self._contested):
            found = judge()
            if found is not None:
                return found
        if self.steps:
            return self._listed() if self.setting.list_ is not None else self._against()
        if not self.environment.holding(self.setting.condition):
            return self._says("no-effect", "nothing reads it in this environment", proof=True)
        return self._side_effect() or self._says("harmless", "not needed for what you asked")

    def _says(self, status: str, why: str, proof: bool = False) -> Existing:
        evidence = [cite(self.kb, said) for said in self.setting.evidence] if proof else []
        return Existing(self.setting.name, self.value, status, why, evidence)  # type: ignore[arg-type]

    def _dead(self) -> Existing | None:
        if self.setting.effect != "never":
            return None
        instead = f"; {self.setting.instead} was meant" if self.setting.instead else ""
        return self._says("no-effect", f"nothing reads it{instead}", proof=True)

    def _replaced(self) -> Existing | None:
        late = self.setting.read == "process-start"  # this process has read what was there before
        calls = [] if late else [helper for helper in self.advice.helpers if helper.used]
        by = [helper.call for helper in calls if self.setting.name in helper.overwrites]
        return self._says("no-effect", f"{by[-1]} replaces it") if by else None

    def _forbidden(self) -> Existing | None:
        unset = [step for step in self.steps if step.kind in ("unset", "avoid")]
        if unset:
            why = unset[0].why
            return self._says(
                "forbidden", why if "must be absent" in why else f"must be absent: {why}"
            )
        for solution in self._turned_by():
            for caution in solution.cautions:
                if caution.blocks and {} in self.environment.holding(caution.condition):
                    return self._says("forbidden", caution.text)
        return None

    def _invalid(self) -> Existing | None:
        if self.setting.list_ is not None:
            return None
        if self.value in self.setting.refuses:
            return self._says(
                "contradictory", f"{self.value} undoes what it is set for", proof=True
            )
        if self.setting.accepts and self.value not in self.setting.accepts:
            return self._says("invalid", f"accepted: {', '.join(self.setting.accepts)}")
        if not self._has_type():
            return self._says("invalid", f"must be of type {self.setting.value_type}")
        if not self.setting.takes_number(self.value):
            return self._says("invalid", f"must be {self.setting.number_wanted()}")
        return None

    def _has_type(self) -> bool:
        """Of JSON, which has types, the type itself; of a variable, how it reads."""
        wanted = self.setting.value_type
        if self.setting.kind == "config" and not isinstance(self.typed, str):
            kinds = {"string": (), "integer": (int,), "boolean": (bool,)}[wanted]
            return type(self.typed) in kinds
        return self.setting.kind != "config" or wanted == "string"

    def _contested(self) -> Existing | None:
        for conflict in self.advice.conflicts:
            if conflict.name == self.setting.name:
                return self._says(
                    "contradictory", f"no value suits all: {'; '.join(conflict.choices)}"
                )
        return None

    def _against(self) -> Existing:
        for step in self.steps:
            if step.satisfied_by(self.value):
                return self._says("needed", step.why)
        step = self.steps[0]
        return self._says("contradictory", f"must be {_either(step)}, {self._for(step)}")

    def _for(self, step: Step) -> str:
        """Return the solutions that need another value."""
        return "for " + " and ".join(party(self.kb, by) for by in step.solutions)

    def _listed(self) -> Existing:
        """Items of a list variable: a needed one may be there, be missing, or be there with another
        value.
        """
        wanted: dict[str, None] = {}
        for step in self.steps:
            wanted.update(dict.fromkeys(step.accepts))
        last = {item.partition("=")[0]: item for item in self.items}
        wrong = [item for item in wanted if last.get(item.partition("=")[0], item) != item]
        lacks = [item for item in wanted if item not in self.items]
        if wrong:
            needs = f"must hold {' '.join(wrong)}, {self._for(self.steps[0])}"
            return self._says("contradictory", needs)
        if not lacks:
            return self._says("needed", self.steps[0].why)
        return self._says(
            "harmless" if len(lacks) == len(wanted) else "needed", f"lacks {' '.join(lacks)}"
        )

    def _side_effect(self) -> Existing | None:
        """A switch that, once on, sets something else than is needed."""
        for solution in self._turned_by():
            for turn in solution.sets:
                if turn.to and {} in self.environment.holding(turn.condition):
                    for step in self.advice.steps:
                        if step.name == turn.set and not any(map(step.satisfied_by, turn.to)):
                            sets = f"{solution.title} sets {turn.set}={turn.to[0]}"
                            needs = f"which must be {_either(step)}, {self._for(step)}"
                            return self._says("contradictory", f"{sets}, {needs}")
        return None

    def _turned_by(self) -> Iterator[Solution]:
        """Solutions that this setting turns on, where they exist."""
        for id_ in self.kb.solutions:
            solution = self._solution(id_)
            turns = any(map(self._is_turned_as, solution.settings))
            if turns and self.environment.holding(solution.condition):
                yield solution

    def _is_turned_as(self, turn: SettingChange) -> bool:
        return turn.set == self.setting.name and (
            not turn.to or not set(self.items).isdisjoint(turn.to)
        )

    def _solution(self, id_: str) -> Solution:
        return self.kb.solutions[id_]
