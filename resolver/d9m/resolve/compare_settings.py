"""Compare settings that are already made with the advice."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import FAULTS, Advice, Existing
from d9m.model.records import Setting, SettingChange, Solution
from d9m.model.settings import Kind, PlainValue, Step, as_text
from d9m.model.when import parse
from d9m.resolve import values
from d9m.resolve.answers import cite
from d9m.resolve.conflicts import party
from d9m.resolve.merge import total

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
    kb: KnowledgeBase,
    environment: Environment,
    advice: Advice,
    places: Sequence[Mapping[str, PlainValue]],
) -> list[str]:
    """List the advised settings that are in none of the places that could hold them."""
    kinds = set[Kind]().union(*(_kinds(kb, advice, place) for place in places))
    found = {name: value for place in places for name, value in place.items()}

    def is_there(step: Step) -> bool:
        if step.kind != "append":
            return step.name in found
        return values.is_among(kb, step, found, environment)

    lacking: dict[str, None] = {}
    for step in advice.steps:
        if step.covered_by is None and step.kind in kinds and not is_there(step):
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


_JUDGED: tuple[Literal["env", "config", "python"], ...] = ("env", "config", "python")
"""Kinds of settings that a file can hold as a name with a value."""


def _verdicts(
    kb: KnowledgeBase, environment: Environment, advice: Advice, name: str, value: PlainValue
) -> Iterator[Existing]:
    """Yield the verdict on a setting, for a list variable that on the first flag at fault, and one
    for each flag that does nothing.
    """
    setting = kb.settings.get(name)
    if setting is None or setting.kind not in _JUDGED:
        meant = nearest_setting(kb, name)
        if meant is None:  # without its value, which may be a secret
            yield Existing(name, "", "unknown", "no record of this name")
        else:
            why = f"nothing reads this name; {meant} was meant"
            yield Existing(name, as_text(value), "misspelt", why)
        return
    verdict = _Case(kb, environment, advice, setting, value).verdict()
    idle: list[Existing] = []
    for item in values.listed(setting, str(value)) if setting.list_ is not None else ():
        flag, _equals, text = item.partition("=")
        meant = None if flag in kb.settings else nearest_setting(kb, flag, ("flag",))
        if meant is not None:
            inner = Existing(flag, text, "invalid", f"is no flag; {meant} was meant")
        elif flag in kb.settings:
            known = kb.settings[flag]
            inner = _Case(kb, environment, advice, known, text).verdict()
            readers = setting.condition.cuts.keys() & environment.packages.keys()
            if inner.status == "no-effect" and readers and readers <= known.condition.cuts.keys():
                inner = Existing(flag, text, "invalid", "is no flag of this release")
        else:
            continue
        if inner.status == "no-effect":
            idle.append(inner)
        elif inner.status in FAULTS and verdict.status != "invalid":
            why = f"{flag} {inner.why}"
            verdict = msgspec.structs.replace(verdict, status=inner.status, why=why)
    yield verdict
    yield from idle


def with_lists_rewritten(
    kb: KnowledgeBase, environment: Environment, advice: Advice, found: Mapping[str, PlainValue]
) -> Advice:
    """Return the advice with a new value for each list variable that holds what is refused, in
    place of flags to append.
    """
    refused = {made.name for made in advice.existing if made.status in FAULTS}
    steps: list[Step] = []
    for step in advice.steps:
        if step.kind == "append" and step.name in refused:
            refused.remove(step.name)  # what else is needed goes behind the new value
            kept: list[str] = []
            for item in values.listed(kb.settings[step.name], str(found[step.name])):
                verdicts = _verdicts(kb, environment, advice, step.name, item)
                kept += [item] if all(each.status not in FAULTS for each in verdicts) else []
            value = (step.separator or " ").join(dict.fromkeys([*kept, *step.accepts]))
            step = msgspec.structs.replace(step, kind="env", value=value, accepts=[value])
        steps.append(step)
    return msgspec.structs.replace(advice, steps=steps, settings=total(steps))


def nearest_setting(kb: KnowledgeBase, name: str, kinds: tuple[str, ...] = _JUDGED) -> str | None:
    """The setting whose name is almost this one."""
    by_lower = kb.once(
        ("settings of kinds", kinds),
        lambda: {known.lower(): known for known in kb.settings if kb.settings[known].kind in kinds},
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
        self.text = str(value) if setting.kind == "python" else as_text(value)
        self.value = values.read(kb, setting.name, self.text, environment)
        self.items = values.listed(setting, self.value)
        self.steps = [step for step in advice.steps if step.name == setting.name]

    def verdict(self) -> Existing:
        judges = (self._dead, self._replaced, self._forbidden, self._unread)
        for judge in (*judges, self._invalid, self._contested):
            found = judge()
            if found is not None:
                return found
        if self.steps:
            return self._listed() if self.setting.list_ is not None else self._against()
        return self._side_effect() or self._says("harmless", "not needed for what you asked")

    def _says(self, status: str, why: str, proof: bool = False) -> Existing:
        evidence = [cite(self.kb, said) for said in self.setting.evidence] if proof else []
        return Existing(self.setting.name, self.text, status, why, evidence)  # type: ignore[arg-type]

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

    def _unread(self) -> Existing | None:
        if self.steps or self.environment.holding(self.setting.condition):
            return None
        found = self._says("no-effect", "nothing reads it in this environment", proof=True)
        # a run shows what a setting does where it is read
        evidence = [each for each in found.evidence if each.kind != "measured"]
        return msgspec.structs.replace(found, evidence=evidence)

    def _invalid(self) -> Existing | None:
        where = parse(self.setting.refuses_in)
        if self.value in self.setting.refuses and self.environment.holding(where):
            why = f"with {self.value}, results differ between runs"
            return self._says("contradictory", why, proof=True)
        if not self._has_type():
            return self._says("invalid", f"must be of type {self.setting.value_type}")
        fault = values.fault(self.setting, self.text, self.environment)
        return (
            None if fault is None else self._says("invalid", fault, self.setting.list_ is not None)
        )

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
            if values.suits(self.kb, step, self.text, self.environment):
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
