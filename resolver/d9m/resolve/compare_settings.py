"""Judge the settings that somebody has already made against the advice."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice, Existing
from d9m.model.records import Setting, Solution
from d9m.model.settings import PlainValue, Step
from d9m.resolve.answers import told_of


def judge_existing(
    kb: KnowledgeBase, environment: Environment, advice: Advice, found: Mapping[str, PlainValue]
) -> list[Existing]:
    """One verdict for each setting that the knowledge base knows, in order of name."""
    return [
        each
        for name in sorted(found)
        for each in _verdicts(kb, environment, advice, name, found[name])
    ]


def missing(advice: Advice, found: Mapping[str, PlainValue]) -> list[str]:
    """Advised settings of the kind that was read which are not there."""
    return list(dict.fromkeys(step.name for step in advice.steps if _is_missing(step, found)))


def _is_missing(step: Step, found: Mapping[str, PlainValue]) -> bool:
    """Neither there nor done by a call. A configuration holds dotted names, an environment none."""
    if step.covered_by is not None or step.kind not in (
        ("config",) if _is_config(found) else ("env", "append")
    ):
        return False
    return step.name not in found or (
        step.kind == "append" and not step.satisfied_by(str(found[step.name]))
    )


def _is_config(found: Mapping[str, PlainValue]) -> bool:
    return any("." in name for name in found)


def _verdicts(
    kb: KnowledgeBase, environment: Environment, advice: Advice, name: str, value: PlainValue
) -> Iterator[Existing]:
    """One verdict for a setting that the knowledge base knows, and one for each item of a list that
    is at fault.
    """
    setting: Setting | None = kb.get("settings", name)
    if setting is None or setting.kind not in ("env", "config"):
        return
    case = _Case(kb, environment, advice, setting, value)
    yield case.verdict()
    for item in case.items if setting.list_ is not None else ():
        name, equals, inside = item.partition("=")
        known: Setting | None = kb.get("settings", name)
        verdict = (
            _Case(kb, environment, advice, known, inside if equals else "").verdict()
            if known
            else None
        )
        if verdict is not None and verdict.status not in ("needed", "harmless"):
            yield verdict


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
        self.value = str(value).lower() if isinstance(value, bool) else str(value)
        self.items = self.value.split(setting.list_) if setting.list_ is not None else [self.value]
        self.steps = [step for step in advice.steps if step.name == setting.name]

    def verdict(self) -> Existing:
        for judge in (self._dead, self._replaced, self._forbidden, self._invalid, self._contested):
            found = judge()
            if found is not None:
                return found
        if self.steps:
            return self._listed() if self.setting.list_ is not None else self._against()
        if not self.environment.holding(self.setting.when):
            return self._says("no-effect", "nothing reads it in this environment", proof=True)
        return self._side_effect() or self._says("harmless", "not needed for what you asked")

    def _says(self, status: str, why: str, proof: bool = False) -> Existing:
        evidence = [told_of(self.kb, each) for each in self.setting.evidence] if proof else []
        return Existing(self.setting.name, self.value, status, why, evidence)  # type: ignore[arg-type]

    def _dead(self) -> Existing | None:
        if self.setting.effect != "never":
            return None
        instead = f"; {self.setting.instead} was meant" if self.setting.instead else ""
        return self._says("no-effect", f"nothing reads it{instead}", proof=True)

    def _replaced(self) -> Existing | None:
        late = self.setting.read == "process-start"  # this process has read what was there before
        calls = [] if late else [each for each in self.advice.helpers if each.used]
        by = [each.call for each in calls if self.setting.name in each.overwrites]
        return self._says("no-effect", f"{by[-1]} replaces it") if by else None

    def _forbidden(self) -> Existing | None:
        unset = [step for step in self.steps if step.kind in ("unset", "avoid")]
        if unset:
            return self._says("forbidden", f"must be absent: {unset[0].why}")
        for _label, solution in self._turned_by():
            for caution in solution.cautions:
                if caution.blocks and {} in self.environment.holding(caution.when):
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
        return None

    def _has_type(self) -> bool:
        """Of JSON, which has types, the type itself; of a variable, how it reads."""
        wanted = self.setting.value_type
        if self.setting.kind == "config" and not isinstance(self.typed, str):
            kinds = {"string": (), "integer": (int,), "boolean": (bool,)}[wanted]
            return type(self.typed) in kinds
        if self.setting.kind == "config":
            return wanted == "string"
        return wanted != "integer" or re.fullmatch(r"-?[0-9]+", self.value) is not None

    def _contested(self) -> Existing | None:
        for conflict in self.advice.conflicts:
            if conflict.name == self.setting.name:
                return self._says(
                    "contradictory", f"no value suits all: {'; '.join(conflict.choices)}"
                )
        return None

    def _against(self) -> Existing:
        step = next((each for each in self.steps if each.satisfied_by(self.value)), self.steps[0])
        if step.satisfied_by(self.value):
            return self._says("needed", step.why)
        return self._says(
            "contradictory", f"{', '.join(step.solutions)}: needs {' or '.join(step.accepts)}"
        )

    def _listed(self) -> Existing:
        """Items of a list variable: a needed one may be there, be missing, or be there with another
        value.
        """
        wanted = list(dict.fromkeys(item for step in self.steps for item in step.accepts))
        last = {item.partition("=")[0]: item for item in self.items}
        wrong = [item for item in wanted if last.get(item.partition("=")[0], item) != item]
        lacks = [item for item in wanted if item not in self.items]
        if wrong:
            return self._says(
                "contradictory", f"{', '.join(self.steps[0].solutions)}: needs {' '.join(wrong)}"
            )
        if not lacks:
            return self._says("needed", self.steps[0].why)
        return self._says(
            "harmless" if len(lacks) == len(wanted) else "needed", f"lacks {' '.join(lacks)}"
        )

    def _side_effect(self) -> Existing | None:
        """A switch that, once on, sets something else than is needed."""
        for label, solution in self._turned_by():
            sure = [
                turn
                for turn in solution.sets
                if turn.to and {} in self.environment.holding(turn.when)
            ]
            for turn, step in itertools.product(sure, self.advice.steps):
                if step.name == turn.set and not any(step.satisfied_by(each) for each in turn.to):
                    needs = f"{', '.join(step.solutions)} needs {' or '.join(step.accepts)}"
                    return self._says(
                        "contradictory", f"{label} sets {turn.set}={turn.to[0]}; {needs}"
                    )
        return None

    def _turned_by(self) -> Sequence[tuple[str, Solution]]:
        """Solutions that this setting turns on, where they exist."""
        every = (
            (solution.label, solution)
            for id_ in self.kb.keys("solutions")
            if (solution := self._solution(id_))
        )
        return [
            (label, solution)
            for label, solution in every
            if any(
                turn.set == self.setting.name and (not turn.to or set(self.items) & set(turn.to))
                for turn in solution.settings
            )
            and self.environment.holding(solution.when)
        ]

    def _solution(self, id_: str) -> Solution:
        return self.kb.get("solutions", id_)
