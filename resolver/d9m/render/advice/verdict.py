"""The verdict: one or two sentences that a colleague could read aloud."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.model.advice import REPEATS, Advice, OpAnswer
from d9m.render import phrases
from d9m.render.advice.op_names import short_names
from d9m.render.interface import Answer

_PROMISES = {
    "run": ("repeats", "repeat"),
    "batch": ("gives the same bits in any batch", "give the same bits in any batch"),
    "hardware": ("gives the same bits on any machine", "give the same bits on any machine"),
}
"""Scope -> what one op does, and what several do."""


def sentences(answer: Answer) -> str:
    """How many ops repeat, and what happens with the others; a fault of the settings comes
    first.
    """
    advice = answer.advice
    parts = _faults(answer)
    ops = [op for op in advice.ops if op.query != "*"]
    own = next((op for op in advice.ops if op.query == "*"), None)
    if own is not None and (not ops or own.outcome not in REPEATS):
        parts += _of_packages(answer, own)
    if ops:
        parts += _of_ops(answer, ops)
    if not advice.ops:
        parts.append("d9m knows no op and no package of this environment that can differ.")
    return " ".join(parts)


def _faults(answer: Answer) -> list[str]:
    """Settings that are wrong, and settings that contradict each other."""
    advice = answer.advice
    found: list[str] = []
    wrong = [
        made for made in advice.existing if made.status in ("invalid", "forbidden", "contradictory")
    ]
    for made in wrong[:2]:
        says = {"invalid": "is not a valid value", "forbidden": "must not be set"}
        found.append(
            f"{made.name}={made.value} {says.get(made.status, 'contradicts this advice')}."
        )
    for conflict in advice.conflicts:
        between = phrases.join([_party(answer, party) for party in conflict.between])
        found.append(f"{conflict.name} cannot suit {between} at once.")
    return found


def _party(answer: Answer, label: str) -> str:
    """A side of a conflict: the title of a solution, or the name as it is."""
    for solution in answer.advice.solutions:
        if solution.label == label:
            return solution.title
    return label


def _of_packages(answer: Answer, own: OpAnswer) -> list[str]:
    """What belongs to packages rather than to ops."""
    packages = phrases.join(list(dict.fromkeys(_home(answer, source.id) for source in own.sources)))
    one, many = _PROMISES[answer.advice.scope]
    several = len({source.id.partition("/")[0] for source in own.sources}) > 1
    if own.outcome in REPEATS:
        return [f"{packages} {many if several else one}{_with_settings(answer.advice)}."]
    if own.outcome == "depends":
        return [f"What {packages} {'do' if several else 'does'} depends on how you use it."]
    if own.outcome == "unknown":
        return [f"Nobody has checked all of {packages} in this version."]
    return [f"{packages} can differ between runs."]


def _home(answer: Answer, source: str) -> str:
    return phrases.title(answer.kb, answer.kb.home(source))


def _of_ops(answer: Answer, ops: Sequence[OpAnswer]) -> list[str]:
    names = short_names(ops)
    found: list[str] = []
    good = [op for op in ops if op.outcome in REPEATS]
    silent = [op for op in good if op.outcome == "no-known-source"]
    if silent and len(silent) == len(good):
        found.append(_of_silent(answer, silent, _named(silent, names)))
    elif good:
        one, many = _PROMISES[answer.advice.scope]
        counted = _counted(len(good), len(ops), names[good[0].query])
        verb = one if len(good) == 1 else many
        known = f", {len(silent)} of them as far as anybody knows" if silent else ""
        found.append(f"{counted} {verb}{_with_settings(answer.advice)}{known}.")
    for outcome, say in _SAY.items():
        some = [op for op in ops if op.outcome == outcome]
        if some:
            found.append(say(answer, some, _named(some, names)))
    return found


def _of_silent(answer: Answer, silent: Sequence[OpAnswer], named: str) -> str:
    differences = {
        "run": "a difference between runs",
        "batch": "a dependence on the batch",
        "hardware": "a dependence on the machine",
    }
    return f"No record names {differences[answer.advice.scope]} of {named}: that is not a proof."


def _counted(some: int, all_: int, name: str) -> str:
    if some < all_:
        return f"{some} of {all_} ops"
    return {1: name, 2: "Both ops"}.get(some, f"All {some} ops")


def _with_settings(advice: Advice) -> str:
    """Whether the settings that follow have a part in it, or only seeds and the like."""
    return (
        " with these settings" if advice.solutions else " as it is" if len(advice.ops) == 1 else ""
    )


MOST_NAMES = 4
"""Ops that a sentence names before it counts them."""


def _named(ops: Sequence[OpAnswer], names: dict[str, str]) -> str:
    if len(ops) > MOST_NAMES:
        return f"{len(ops)} ops"
    return phrases.join([names[op.query] for op in ops])


def _say_raises(answer: Answer, ops: Sequence[OpAnswer], named: str) -> str:
    switches = {source.raised_by for op in ops for source in op.sources if source.raised_by}
    advised = {solution.label for solution in answer.advice.solutions}
    s = "s" if len(ops) == 1 else ""
    if switches & advised:
        error = "an error" if len(ops) == 1 else "errors"
        return f"{named} raise{s} {error} under them."
    it = "it" if len(ops) == 1 else "them"
    return f"{named} can differ between runs: no deterministic version of {it} exists here."


def _say_unsolved(answer: Answer, ops: Sequence[OpAnswer], named: str) -> str:
    if answer.advice.scope == "hardware":
        return f"{named} can differ between machines, and no setting here prevents it."
    if answer.advice.scope == "batch":
        return f"{named} can differ with the batch, and no setting here prevents it."
    return f"{named} can differ between runs, and no setting here prevents it."


def _say_unknown(answer: Answer, ops: Sequence[OpAnswer], named: str) -> str:
    return f"Nobody has checked {named} here."


def _say_depends(answer: Answer, ops: Sequence[OpAnswer], named: str) -> str:
    return (
        f"Whether {named} {'repeats' if len(ops) == 1 else 'repeat'} depends on what you have "
        "not said yet."
    )


_SAY = {
    "raises": _say_raises,
    "unsolved": _say_unsolved,
    "depends": _say_depends,
    "unknown": _say_unknown,
}
"""Outcome -> the sentence for the ops that have it, worst first."""
