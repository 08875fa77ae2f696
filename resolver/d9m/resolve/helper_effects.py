"""Effects of the user's calls on the advice: settings that they cover, contradict, or make too
late.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model import conditions
from d9m.model.advice import Difference, HelperAnswer, OpAnswer
from d9m.model.records import SettingChange, together
from d9m.model.settings import PlainValue, Step
from d9m.model.when import Clause
from d9m.resolve import values
from d9m.resolve.answers import cite
from d9m.resolve.helper_calls import Call, call
from d9m.resolve.merge import ABSENT, Demand, Merged, SettingConflict, both, demands, line, merge
from d9m.resolve.select import Need


class CallEffect(msgspec.Struct, frozen=True):
    """The effect of one call on one advised setting."""

    value: str | None
    """The value that it sets; None: it unsets, or the value is the user's."""
    fault: str | None
    """Why that does not count."""
    contradicts: bool
    """Whether what it sets is wrong, and replaces what would be right."""
    good: tuple[Clause, ...]
    """Where it does what is advised."""

    def covers(self, step: Step) -> bool:
        for needed in step.when or [{}]:
            if not any(conditions.covers(good, needed) for good in self.good):
                return False
        return True


def with_calls(
    kb: KnowledgeBase, environment: Environment, merged: Merged, used: Sequence[Call]
) -> Merged:
    """The settings with those marked that the calls make; those that they spoil are in conflict."""
    if not used:
        return merged
    steps = merged.steps
    conflicts = list(merged.conflicts)
    for by in used:
        kept: list[Step] = []
        for step in steps:
            made = _made(kb, environment, by, step)
            if made is not None and made.contradicts:
                conflicts.append(_conflict(by, step, made))
            else:
                kept.append(_marked(kb, step, by, made))
        steps = tuple(kept)
    return Merged(steps, tuple(conflicts))


def _marked(kb: KnowledgeBase, step: Step, by: Call, made: CallEffect | None) -> Step:
    if made is None or not made.covers(step):
        return step
    covered = msgspec.structs.replace(step, covered_by=by.helper.call)
    if made.value is None or step.setting_kind not in ("env", "python"):
        return covered
    return msgspec.structs.replace(
        covered, value=made.value, text=line(kb.settings[step.name], made.value)
    )


def _conflict(by: Call, step: Step, made: CallEffect) -> SettingConflict:
    wanted = ABSENT if step.kind in ("unset", "avoid") else tuple(step.accepts)
    set_ = ABSENT if made.value is None else (made.value,)
    return SettingConflict(
        step.name, {by.helper.call: set_, **dict.fromkeys(step.solutions, wanted)}
    )


def _made(kb: KnowledgeBase, environment: Environment, by: Call, step: Step) -> CallEffect | None:
    """None: the call leaves this setting alone."""
    found: list[CallEffect] = []
    for turn in by.helper.sets:
        if step.name == turn.name:
            where = both(environment.holding(by.helper.condition), by.makes(environment, turn))
            if where:
                is_right = _accepts(kb, environment, step, turn)
                overwrites = step.name in by.helper.overwrites
                found.append(_turned(step, turn, where, overwrites, is_right))
    if not found:
        return None
    good = conditions.united(clause for made in found for clause in made.good)
    worst = next((made for made in found if made.fault is not None), found[0])
    return CallEffect(
        worst.value, worst.fault, any(made.contradicts for made in found), tuple(good)
    )


def _turned(
    step: Step,
    turn: SettingChange,
    where: tuple[Clause, ...],
    overwrites: bool,
    is_right: bool,
) -> CallEffect:
    value = None if turn.set is None or turn.any_value or not turn.to else _joined(step, turn)
    if not is_right:
        wrong_anyway = step.kind in ("unset", "avoid")
        fault = (
            "must be absent"
            if wrong_anyway
            else f"needed: {' or '.join(step.accepts) or 'another value'}"
        )
        if not overwrites and not wrong_anyway:
            fault += "; yours is kept if you set it before the call"
        return CallEffect(value, fault, overwrites or wrong_anyway, ())
    late = _LATE.get(step.read_at) if step.setting_kind == "env" else None
    return CallEffect(value, late, False, () if late else where)


_LATE = {
    "process-start": (
        "too late for this process, which read it at its start; only processes "
        "started from it see it"
    ),
    "import": "in time only if nothing that reads it at import was imported before the call",
}
"""When a variable is read -> why a call inside the program does not surely set it in time."""


def _joined(step: Step, turn: SettingChange) -> str:
    return turn.to[0] if step.separator is None else step.separator.join(turn.to)


def _accepts(kb: KnowledgeBase, environment: Environment, step: Step, turn: SettingChange) -> bool:
    if step.kind in ("unset", "avoid"):
        return turn.set is None
    if turn.set is None:
        return False
    is_free = turn.any_value and step.any_value
    return is_free or not turn.to or values.suits(kb, step, _joined(step, turn), environment)


def solutions_made(
    kb: KnowledgeBase,
    environment: Environment,
    wanted: Sequence[Need],
    used: Sequence[Call],
    found: Mapping[str, PlainValue],
) -> frozenset[str]:
    """Labels of the solutions whose every setting the calls make, or is found to be made."""
    labels: set[str] = set()
    for need in wanted if used or found else ():
        labels.update(*need.alternatives)
    return frozenset(label for label in labels if _is_made(kb, environment, label, used, found))


def _is_made(
    kb: KnowledgeBase,
    environment: Environment,
    label: str,
    used: Sequence[Call],
    found: Mapping[str, PlainValue],
) -> bool:
    turns: list[Demand] = []
    for needed, _id, solution in kb.labelled([label]):
        turns += demands(kb, environment, needed, solution.settings)
    steps = with_calls(kb, environment, merge(turns), used).steps
    return bool(steps) and all(
        step.covered_by is not None or values.is_among(kb, step, found, environment)
        for step in steps
    )


def helper_answers(
    kb: KnowledgeBase,
    environment: Environment,
    steps: Sequence[Step],
    used: Sequence[Call],
    ops: Sequence[OpAnswer],
) -> list[HelperAnswer]:
    """The user's calls held against the settings; without any, calls that would cover some, best
    first.
    """
    if used:
        refusing = _refusing(ops)
        answers: list[HelperAnswer] = []
        for call_ in used:
            answer = _answer(kb, environment, steps, call_, True)
            turns_on = [label for label in refusing if _turns_on(kb, environment, call_, label)]
            answers.append(msgspec.structs.replace(answer, turns_on=turns_on))
        return answers
    here = [known for known in _of(kb, environment) if environment.holding(known.helper.condition)]
    answers = [_answer(kb, environment, steps, known, False) for known in here]
    helping = [answer for answer in answers if answer.covers]
    return sorted(helping, key=lambda answer: (-len(answer.covers), answer.warns, answer.id))


def _refusing(ops: Sequence[OpAnswer]) -> list[str]:
    """Labels of the switches with which ops raise an error."""
    labels: dict[str, None] = {}
    for op in ops:
        for source in op.sources:
            labels.update(dict.fromkeys(together(source.raised_by or "")))
    return list(labels)


def _turns_on(kb: KnowledgeBase, environment: Environment, by: Call, label: str) -> bool:
    """Whether a call makes a statement of the program with which a switch is on."""
    for turn in kb.solution(label)[1].settings:
        if turn.set is None or kb.settings[turn.set].kind != "python":
            continue
        for made in by.helper.sets:
            same = made.set == turn.set and (not made.to or not set(made.to).isdisjoint(turn.to))
            if same and by.makes(environment, made):
                return True
    return False


def _of(kb: KnowledgeBase, environment: Environment) -> list[Call]:
    """Calls of the packages that were named."""
    named = {folder for folder, home in kb.meta.folders.items() if home in environment.packages}
    return [call(kb, id_) for id_ in kb.helpers if id_.partition("/")[0] in named]


def _answer(
    kb: KnowledgeBase, environment: Environment, steps: Sequence[Step], by: Call, used: bool
) -> HelperAnswer:
    covers: dict[str, None] = {}
    leaves: dict[str, None] = {}
    differs: list[Difference] = []
    for step in steps:
        made = _made(kb, environment, by, step)
        if made is not None and made.covers(step):
            covers[step.name] = None
            continue
        leaves[step.name] = None
        if made is not None:
            why = made.fault or "not in every release in question"
            differs.append(Difference(step.name, made.value, why, list(made.good)))
    evidence = [cite(kb, proof) for proof in by.helper.evidence]
    whole = [name for name in covers if name not in leaves]
    return HelperAnswer(
        by.id,
        by.helper.call,
        used,
        whole,
        list(leaves),
        differs,
        _overwritten(environment, by),
        evidence,
        warns=bool(environment.holding(by.helper.warns_where)),
    )


def _overwritten(environment: Environment, by: Call) -> list[str]:
    """Of what it overwrites, what it sets in the releases in question."""
    here = {turn.name for turn in by.helper.sets if by.makes(environment, turn)}
    return [name for name in by.helper.overwrites if name in here]
