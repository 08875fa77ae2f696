"""What an answer comes to, in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.model.advice import Advice, OpAnswer, SolutionAnswer
from d9m.model.records import Scope
from d9m.render import words


def sentences(advice: Advice) -> str:
    """How much is settled, by what, and what is not."""
    ops = [op for op in advice.ops if op.query != "*"]
    if not advice.ops:
        return "No op was named that the knowledge base knows here."
    solved = [op for op in advice.ops if op.outcome == "solved"]
    labels = list(dict.fromkeys(label for op in solved for label in op.solutions))
    parts = [_count(advice.scope, ops, labels) if ops else _of_no_op(advice.ops[0], labels)]
    parts += [_included(advice, each) for each in advice.solutions if each.includes]
    raising = [op for op in ops if op.outcome == "raises"]
    if raising:
        parts.append(_raising(advice, raising))
    if advice.conflicts:
        parts.append(f"Not all at once: {words.listed([each.name for each in advice.conflicts])} cannot suit everyone.")
    return " ".join(parts)


def _included(advice: Advice, solution: SolutionAnswer) -> str:
    """What one solution spares the user: all of the others, or some."""
    spared = words.listed(solution.includes)
    if {each.label for each in advice.solutions} <= {solution.label, *solution.includes}:
        return f"{solution.label} alone is enough: it also sets {spared}."
    return f"{solution.label} also sets {spared}."


def _raising(advice: Advice, raising: Sequence[OpAnswer]) -> str:
    switches = dict.fromkeys(source.raised_by for op in raising for source in op.sources if source.raised_by)
    switch = words.listed([each for each in switches if each], "or")
    count = f"{len(raising)} op{'s' * (len(raising) > 1)}"
    if any(solution.label in switches for solution in advice.solutions):
        return f"With {switch} on, {count} stop{'s' * (len(raising) == 1)} the program."
    has = "has" if len(raising) == 1 else "have"
    return f"{count.capitalize()} {has} no cure here: with {switch} on, the program stops."


def _count(scope: Scope, ops: Sequence[OpAnswer], labels: Sequence[str]) -> str:
    """How many ops are settled. An op that no record names is not: nobody may have looked."""
    by = f" with {words.listed(labels)}" if labels else ""
    good = [op for op in ops if op.outcome in ("solved", "deterministic")]
    silent = [op for op in ops if op.outcome == "no-known-source"]
    bad = len(ops) - len(good) - len(silent)
    source, (one, many) = words.SCOPES[scope].source, words.SCOPES[scope].promise
    if not good and not bad:
        rest = f" {words.listed(labels)} is for what belongs to no op." if labels else ""
        return f"No record names {source} here. That is not a proof.{rest}"
    if bad == len(ops):
        told = {1: "The op is not settled.", 2: "Neither op is settled."}.get(bad, f"None of the {bad} ops is settled.")
    elif not good:
        told = f"{_of(bad, ops)} {'is' if bad == 1 else 'are'} not settled."
    elif bad:
        told = f"{_of(len(good), ops)} {'is' if len(good) == 1 else 'are'} settled{by}."
    else:
        told = f"{_of(len(good), ops)} {one if len(good) == 1 else many}{by or ', with nothing to set'}."
    if silent:
        others = f"{len(silent)} others" if len(silent) > 1 else "one other"
        told += f" No record names {source} for {others}: that is not a proof."
    return told


def _of(some: int, ops: Sequence[OpAnswer]) -> str:
    if some < len(ops):
        return f"{some} of {len(ops)} ops"
    return {1: "The op", 2: "Both ops"}.get(some, f"All {some} ops")


def _of_no_op(answer: OpAnswer, labels: Sequence[str]) -> str:
    """The summary of what belongs to no op."""
    open_ = [each.id for each in answer.sources if each.outcome in ("raises", "unsolved", "unknown")]
    if open_:
        return f"Not settled{f' by {words.listed(labels)}' if labels else ''}: {words.listed(open_)}."
    return f"Solved with {words.listed(labels)}." if labels else "Nothing that is known here differs from run to run."
