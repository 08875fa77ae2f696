"""What the verdict says of ops, and the phrases that it shares with what it says of packages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9m.model.advice import FAULTS, REPEATS, OpAnswer, Possible, SourceAnswer
from d9m.model.records import together
from d9m.render import phrases, words
from d9m.render.advice.op_lines import WORSE, packages_lead
from d9m.render.advice.op_names import blamed_names, short_names, shown_elsewhere
from d9m.render.interface import Answer

MOST_BRANCHES = 2
"""Conditions that a sentence names."""

MOST_PARTS = 3
"""Parts of the conditions under which something repeats."""


def where_they_repeat(answer: Answer, sources: Sequence[SourceAnswer]) -> str:
    """The conditions under which sources that depend on something repeat, ``only with PyTorch 2.6
    or newer`` or ``except with spatial_dims of 3``; empty if a sentence cannot say them.
    """
    depending = [source for source in sources if source.outcome == "depends"]
    said = {_where_it_repeats(answer, source.possible) for source in depending}
    return said.pop() if len(said) == 1 else ""


def _where_it_repeats(answer: Answer, possible: Sequence[Possible]) -> str:
    repeating = [branch.when for branch in possible if branch.outcome in REPEATS]
    good = phrases.fewest(answer.kb, repeating)
    others = [branch for branch in possible if branch.outcome not in REPEATS]
    bad = phrases.fewest(answer.kb, [branch.when for branch in others])
    checked = any(branch.outcome != "unknown" for branch in others)
    is_exception = checked and len(bad) < len(good) and not answer.is_reported
    if is_exception and len(bad) <= MOST_BRANCHES:
        return f"except {phrases.conditions(answer.kb, bad)}"
    if not good or len(good) > MOST_BRANCHES or sum(map(len, good)) > MOST_PARTS:
        return ""
    where = phrases.conditions(answer.kb, good)
    return f"only {where}" if checked else f"{where}; nobody has checked the rest"


def to_pass(answer: Answer, ops: Sequence[OpAnswer]) -> list[str]:
    """The arguments that make an op repeat: nothing outside the call does it."""
    names = short_names(answer.kb, ops)
    found: list[str] = []
    for step in answer.advice.steps:
        argument = step.text or step.value or ""
        users = [op for op in ops if set(step.solutions) & set(op.solutions)]
        if step.kind == "code" and _ARGUMENT.fullmatch(argument) and users:
            why = _why(users) if answer.is_reported else ""
            found.append(f"{why}{'pass' if why else 'Pass'} {argument} to {_named(users, names)}.")
    return found


def _why(ops: Sequence[OpAnswer]) -> str:
    """The one cause of some ops, for somebody who has seen them differ."""
    causes = {source.title for op in ops for source in op.sources}
    return f"{causes.pop()}: " if len(causes) == 1 else ""


_ARGUMENT = re.compile(r"\w+=\S+")
"""``deterministic=True``."""


def judged_parts(answer: Answer, ops: Sequence[OpAnswer]) -> list[str]:
    """Of what wraps somebody's model, the part that the answer is about."""
    names, judged = blamed_names(answer.kb, ops), answer.kb.meta.judged
    found: list[str] = []
    for op in ops:
        part = next((judged[name] for name in op.names if name in judged), None)
        if part is not None:
            wrapper = names[op.query]
            found.append(
                f"Of {wrapper}, only {part} is judged: ask about the ops of your model, too."
            )
    return found


def elsewhere(answer: Answer, ops: Sequence[OpAnswer]) -> list[str]:
    """What to do about ops of which no record says anything."""
    found: dict[str, None] = {}
    for op in ops:
        id_ = shown_elsewhere(answer.kb.meta.see, op)
        if id_ is not None:
            found[f"{answer.kb.ingredients[id_].title}: d9m show {id_}."] = None
    return list(found)


def of_ops(answer: Answer, ops: Sequence[OpAnswer]) -> list[str]:
    names = blamed_names(answer.kb, ops)
    found: list[str] = []
    good = [op for op in ops if op.outcome in REPEATS]
    if answer.is_reported or answer.of_message:
        return _of_others(answer, ops, names)
    if not answer.named_ops and (packages_lead(answer) or _calls_made(answer)):
        return [_in_one_sentence(answer, ops)] if len(ops) > 1 else []
    if not answer.named_ops and len(ops) > MOST_NAMES:
        return [_in_one_sentence(answer, ops)]
    silent = [op for op in good if op.outcome == "no-known-source"]
    if not answer.named_ops:
        found.append(f"You named no ops: {_on_record(len(ops))}")
    if len(silent) < len(good):
        one, many = words.PROMISES[answer.advice.scope]
        counted = _counted(len(good), len(ops), names[good[0].query])
        if not answer.named_ops and len(good) < len(ops):
            counted = f"{len(good)} of them"
        verb = one if len(good) == 1 else many
        where = _exceptions(answer, good)
        is_alone = len(good) == 1 and len(where) == 1
        found.append(
            f"{counted} {verb}{with_settings(answer)}{', except ' if is_alone else ''}"
            f"{next(iter(where)) if is_alone else ''}."
        )
        if not is_alone:
            for there, some in where.items():
                does = "does" if len(some) == 1 else "do"
                found.append(f"{_named(some, names)} {does} not {there}.")
    found += _of_others(answer, ops, names)
    if silent:
        found.append(_of_silent(answer, silent, _named(silent, names)))
    return found


def _exceptions(answer: Answer, ops: Sequence[OpAnswer]) -> dict[str, list[OpAnswer]]:
    """Where many programs are, and some of the ops that repeat do not: ``with XLA``."""
    found: dict[str, list[OpAnswer]] = {}
    for op in ops:
        for other in op.otherwise:
            if other.is_frequent and other.outcome in WORSE:
                found.setdefault(phrases.condition(answer.kb, other.when), []).append(op)
    return found


def _of_others(answer: Answer, ops: Sequence[OpAnswer], names: dict[str, str]) -> list[str]:
    """The ops that do not simply repeat, worst first."""
    found: list[str] = []
    for outcome, say in _SAY.items():
        some = [op for op in ops if op.outcome == outcome]
        if some:
            found.append(say(answer, some, names))
    return found


def _calls_made(answer: Answer) -> bool:
    return any(helper.used for helper in answer.advice.helpers)


def _in_one_sentence(answer: Answer, ops: Sequence[OpAnswer]) -> str:
    """How many of all ops repeat, to somebody who named none."""
    count = len(ops)
    good = sum(op.outcome in REPEATS for op in ops)
    bad = sum(op.outcome in ("raises", "unsolved") for op in ops)
    rest = count - good - bad
    does = words.PROMISES[answer.advice.scope][good != 1]
    if good in (0, count):
        all_ = "Both ops" if count == 2 else f"All {count} ops"
        verb = f"{does}{with_settings(answer)}" if good else "can differ, or depend on more"
        return f"{all_} on record {verb}."
    parts = [f"{good} of the {count} ops on record {does}{with_settings(answer)}"]
    parts += [f"{bad} {'does' if bad == 1 else 'do'} not"] if bad else []
    parts += [f"{rest} {'depends' if rest == 1 else 'depend'} on more"] if rest else []
    return f"{phrases.join(parts)}. Name your ops to see which."


def _on_record(count: int) -> str:
    if count == 1:
        return "this is the only one that we know here."
    return f"these are the {count} that we know here."


def _of_silent(answer: Answer, silent: Sequence[OpAnswer], named: str) -> str:
    differences = {
        "run": "no difference between runs",
        "batch": "no dependence on the batch",
        "hardware": "no dependence on the machine",
    }
    return f"d9m knows {differences[answer.advice.scope]} of {named}, which is not a proof."


def _counted(some: int, all_: int, name: str) -> str:
    if some < all_:
        return f"{some} of {all_} ops"
    return {1: name, 2: "Both ops"}.get(some, f"All {some} ops")


def with_settings(answer: Answer) -> str:
    """Whether the settings that follow have a part in it, or only seeds and the like."""
    advice = answer.advice
    if advice.conflicts:
        return " once you have chosen"
    if advice.solutions and any(made.status in FAULTS for made in advice.existing):
        return " once that is corrected"
    if advice.solutions and advice.missing:
        return " once it is set" if len(advice.missing) == 1 else " once they are set"
    known = _known_switches(answer)
    if known:
        return f" with {phrases.join(known)}"
    if advice.solutions:
        return " with these settings"
    return " as it is" if len(advice.ops) == 1 else ""


def _known_switches(answer: Answer) -> list[str]:
    """The solutions with their labels, if people know them all by these."""
    found: list[str] = []
    for solution in answer.advice.solutions:
        if answer.kb.solution(solution.label)[1].known_label:
            found.append(f"{solution.title} ({solution.label})")
    return found if len(found) == len(answer.advice.solutions) else []


MOST_NAMES = 4
"""Ops that a sentence names before it counts them."""


def _named(ops: Sequence[OpAnswer], names: dict[str, str]) -> str:
    if len(ops) > MOST_NAMES:
        return f"{len(ops)} ops"
    return phrases.join([names[op.query] for op in ops])


def _say_raises(answer: Answer, ops: Sequence[OpAnswer], names: dict[str, str]) -> str:
    switches: set[str] = set()
    for op in ops:
        for source in op.sources:
            switches.update(together(source.raised_by or ""))
    advised = {solution.label for solution in answer.advice.solutions}
    named = _named(ops, names)
    for helper in answer.advice.helpers:
        if helper.used and switches.intersection(helper.turns_on):
            if helper.warns:
                return f"{named} can differ between runs: {helper.call} only warns."
            return f"{named} {_errors(ops)} with {helper.call}."
    if not switches:
        return f"{named} {_errors(ops)}."
    if switches & advised:
        under = "it" if len(_known_switches(answer)) == 1 else "them"
        return f"{named} {_errors(ops)} under {under}."
    releases = answer.advice.environment.releases
    switched = [phrases.call_here(answer.kb, label, releases) for label in sorted(switches)]
    return _without_switch(answer, ops, names, phrases.join(switched))


def _without_switch(
    answer: Answer, ops: Sequence[OpAnswer], names: dict[str, str], switch: str
) -> str:
    """Ops that a switch refuses: most vary without it, some only have no way to say that they
    repeat.
    """
    varying = [op for op in ops if op.default != "deterministic"]
    exact = [op for op in ops if op.default == "deterministic"]
    if answer.of_message:
        named = _named(ops, names)
        does = "can differ between runs"
        if not varying:
            does = "repeats" if len(ops) == 1 else "repeat"
        this = "this error" if len(ops) == 1 else "such errors"
        verb = "raises" if len(ops) == 1 else "raise"
        return f"{named} {verb} {this} under {switch}, and {does} without it."
    found: list[str] = []
    if varying:
        named = _named(varying, names)
        found.append(f"{named} can differ between runs{_unprevented(varying, 'no setting')}")
    if exact:
        repeat = "repeats as it is" if len(exact) == 1 else "repeat as they are"
        found.append(f"{_named(exact, names)} {repeat}.")
    errors = "an error" if len(ops) == 1 else "errors"
    found.append(f"The settings below leave out {switch}, which would raise {errors}.")
    return " ".join(found)


def _errors(ops: Sequence[OpAnswer]) -> str:
    return "raises an error" if len(ops) == 1 else "raise errors"


def _say_unsolved(answer: Answer, ops: Sequence[OpAnswer], names: dict[str, str]) -> str:
    differ = words.DIFFERS[answer.advice.scope]
    return f"{_named(ops, names)} {differ}{_unprevented(ops)}"


def _unprevented(ops: Sequence[OpAnswer], nothing: str = "no setting here") -> str:
    """That no advised setting makes some ops repeat; where the records know another way for each of
    them, which may itself set something, that this way follows.
    """
    if not all(_has_a_way(op) for op in ops):
        return f", and {nothing} prevents it."
    ways = "the way out is" if len(ops) == 1 else "the ways out are"
    return f". No switch prevents it; {ways} below."


def _has_a_way(op: OpAnswer) -> bool:
    """Whether every difference of an op that is left can be worked around."""
    left = [source for source in op.sources if source.outcome not in REPEATS]
    return bool(left) and all(source.workarounds for source in left)


def _say_unknown(answer: Answer, ops: Sequence[OpAnswer], names: dict[str, str]) -> str:
    varying = [op for op in ops if op.default == "nondeterministic"]
    others = [op for op in ops if op not in varying]
    found = [f"Nobody has checked {_named(others, names)} here."] if others else []
    if varying:
        differ = words.DIFFERS[answer.advice.scope]
        found.insert(
            0,
            f"{_named(varying, names)} {differ}. Whether a setting prevents it here is not known.",
        )
    return " ".join(found)


def _where_it_differs(answer: Answer, op: OpAnswer) -> str:
    """The conditions under which somebody saw an op differ, if nobody saw it repeat anywhere."""
    depending = [source for source in op.sources if source.outcome == "depends"]
    possible = [branch for source in depending for branch in source.possible]
    known = [branch for branch in possible if branch.outcome != "unknown"]
    if not known or any(branch.outcome != "unsolved" for branch in known):
        return ""
    bad = phrases.fewest(answer.kb, [branch.when for branch in known])
    fits = len(bad) <= MOST_BRANCHES and sum(map(len, bad)) <= MOST_BRANCHES
    return phrases.conditions(answer.kb, bad) if fits else ""


def _say_depends(answer: Answer, ops: Sequence[OpAnswer], names: dict[str, str]) -> str:
    differing = _where_it_differs(answer, ops[0])
    if len(ops) == 1 and differing:
        differ = words.DIFFERS[answer.advice.scope]
        return f"{_named(ops, names)} {differ} {differing}{_unprevented(ops)}"
    where = [where_they_repeat(answer, op.sources) for op in ops]
    if len(ops) > MOST_BRANCHES or not all(where):
        repeat = "repeats" if len(ops) == 1 else "repeat"
        return f"Whether {_named(ops, names)} {repeat} depends on the details below."
    does = "can repeat" if answer.is_reported else words.PROMISES[answer.advice.scope][0]
    under = _under_settings(answer, ops)
    return " ".join(f"{under}{names[op.query]} {does} {there}." for op, there in zip(ops, where))


def _under_settings(answer: Answer, ops: Sequence[OpAnswer]) -> str:
    """Begins a sentence about ops that repeat under some condition, and there with settings only;
    a reader of a message or a report has them in other sentences.
    """
    sources = [source for op in ops for source in op.sources if source.outcome == "depends"]
    good = [branch for source in sources for branch in source.possible]
    needs = all(branch.outcome == "solved" for branch in good if branch.outcome in REPEATS)
    if not needs or answer.advice.conflicts or answer.is_reported or answer.of_message:
        return ""
    settings = with_settings(answer).strip()
    return f"W{settings[1:]}, " if settings.startswith("with ") else ""


def it(things: Sequence[object]) -> str:
    return "it" if len(things) == 1 else "them"


_SAY = {
    "raises": _say_raises,
    "unsolved": _say_unsolved,
    "depends": _say_depends,
    "unknown": _say_unknown,
}
"""Outcome -> the sentence for the ops that have it, worst first."""
