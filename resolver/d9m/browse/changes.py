"""Compare two releases of one package: what changes for the same ops."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m import exit_codes
from d9m.about import SCHEMA_VERSION
from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.errors import ExitCode, UsageError, quote
from d9m.exit_codes import CommandResult
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS, WORST_LAST, OpAnswer, SourceAnswer, Tool
from d9m.model.records import Default, Outcome, Scope
from d9m.model.settings import Settings


class State(msgspec.Struct, frozen=True):
    """An op in one of the two releases; absent where the release lacks it."""

    outcome: Outcome
    default: Default
    solutions: list[str]
    alternatives: list[list[str]]
    error: str | None
    raised_by: str | None
    """The switch that refuses it."""
    branches: list[str] = []
    """The deciding conditions, where the outcome depends on something."""


class OpChange(msgspec.Struct, frozen=True):
    query: str
    before: State | None
    after: State | None
    causes: list[str] = []
    """Ids of the records whose own answer changed, so that the op's did."""


class ReleaseChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `d9m advise --diff`."""

    schema_version: int
    d9m: Tool
    package: str
    from_: str = msgspec.field(name="from")
    to: str
    ops: list[OpChange]
    settings_before: Settings
    settings_after: Settings
    unchanged: int
    unknown: int
    """Ops of which the answer is unknown in one of the releases."""


def compare(
    kb: KnowledgeBase, asked: Setup, ops: Sequence[str] | None, span: str, scope: Scope
) -> ReleaseChanges:
    """The ops whose answer differs between ``A..B`` of the package that was named.

    Raises UsageError where that is not one package, or not two releases.
    """
    before, dots, after = span.partition("..")
    if not (dots and before and after):
        raise UsageError(f"--diff {quote(span)}: expected two releases, as in 2.4..2.6")
    names = [kb.package_named(name) for name, _version in asked.packages]
    frameworks = [name for name in names if name in kb.meta.prefixes] or names
    if len(frameworks) != 1 or asked.container:
        raise UsageError(
            "--diff compares two releases of one package: name one, with --tf any, --torch any, …"
        )
    package = frameworks[0]
    setups = [_with_version(kb, asked, package, version) for version in (before, after)]
    first, second = [advise(kb, setup, ops, scope) for setup in setups]
    named = ops is not None  # of all others, only those with a record
    answers = [{op.query: op for op in each.ops if named or op.sources} for each in (first, second)]
    changes = _pairs(*answers)
    changed = [change for change in changes if _is_changed(change)]
    if ops is None:
        changed += _of_calls(kb, setups, answers, scope)
    return ReleaseChanges(
        schema_version=SCHEMA_VERSION,
        d9m=first.d9m,
        package=package,
        from_=before,
        to=after,
        ops=sorted(changed, key=lambda change: (not _is_worse(change), change.query.lower())),
        settings_before=first.settings,
        settings_after=second.settings,
        unchanged=sum(not _is_changed(change) for change in changes),
        unknown=sum(map(_is_unknown, changes)),
    )


def _with_version(kb: KnowledgeBase, asked: Setup, package: str, version: str) -> Setup:
    packages: list[tuple[str, str | None]] = []
    for name, given in asked.packages:
        packages.append((name, version if kb.package_named(name) == package else given))
    return msgspec.structs.replace(asked, packages=tuple(packages))


def deciding_calls(op: OpAnswer) -> set[str]:
    """Return the calls, as ``op[mode=bilinear]``, whose single argument decides an op's answer."""
    branches = [branch.decide for branch in op.otherwise]
    for source in op.sources:
        branches += [branch.decide for branch in source.possible]
    start = f"{op.query}["
    single = [decide[0] for decide in branches if len(decide) == 1]
    return {call for call in single if call.startswith(start)}


def _of_calls(
    kb: KnowledgeBase, setups: Sequence[Setup], plain: Sequence[dict[str, OpAnswer]], scope: Scope
) -> list[OpChange]:
    """Changes of calls with an argument, where they differ from the change of the op itself."""
    calls: set[str] = set()
    for answers in plain:
        for op in answers.values():
            calls |= deciding_calls(op)
    found: list[dict[str, OpAnswer]] = []
    for setup, answers in zip(setups, plain):
        wanted = sorted(call for call in calls if _op_of(call) in answers)
        ops = advise(kb, setup, wanted, scope).ops if wanted else []
        found.append({op.query: op for op in ops if op.sources})
    whole = {change.query: _shown(change) for change in _pairs(*plain)}
    return [
        change
        for change in _pairs(*found)
        if _is_changed(change) and _shown(change) != whole[_op_of(change.query)]
    ]


def _op_of(call: str) -> str:
    return call.partition("[")[0]


def _pairs(before: dict[str, OpAnswer], after: dict[str, OpAnswer]) -> list[OpChange]:
    changes: list[OpChange] = []
    for query in dict.fromkeys([*before, *after]):
        one, other = before.get(query), after.get(query)
        changes.append(
            OpChange(query, one and _state(one), other and _state(other), _causes(one, other))
        )
    return changes


def _causes(before: OpAnswer | None, after: OpAnswer | None) -> list[str]:
    """Return the records with another answer than before, of these the ones that decide the op."""
    if before is None or after is None:
        return []
    sides = [{source.id: _of_source(source) for source in op.sources} for op in (before, after)]
    changed = [id_ for id_ in {**sides[0], **sides[1]} if sides[0].get(id_) != sides[1].get(id_)]
    deciding: set[str] = set()
    for op in (before, after):
        deciding.update(source.id for source in op.sources if source.outcome == op.outcome)
    return [id_ for id_ in changed if id_ in deciding] or changed


def _of_source(source: SourceAnswer) -> list[object]:
    solutions = source.solutions if source.outcome == "solved" else None
    return [source.outcome, solutions, *_branches(source)]


def _branches(source: SourceAnswer) -> list[str]:
    """Return the conditions that decide a source that depends on something."""
    if source.outcome != "depends":
        return []
    return [
        f"{branch.outcome} {msgspec.json.encode(branch.when).decode()}"
        for branch in source.possible
    ]


def _shown(change: OpChange) -> list[object]:
    """Return the parts of both sides that a reader sees: solutions that do not make an op
    deterministic, and the wording of an error, are no change.
    """
    return [
        state
        and (
            state.outcome,
            state.solutions if state.outcome == "solved" else state.branches,
        )
        for state in (change.before, change.after)
    ]


def _is_changed(change: OpChange) -> bool:
    before, after = _shown(change)
    return before != after


def _state(op: OpAnswer) -> State:
    alternatives: set[tuple[str, ...]] = set()
    for source in op.sources:
        alternatives.update(tuple(labels) for labels in source.alternatives)
    error = next((source.error for source in op.sources if source.error), None)
    ordered = [list(labels) for labels in sorted(alternatives)]
    switch = next((source.raised_by for source in op.sources if source.outcome == "raises"), None)
    branches: list[str] = []
    for source in op.sources if op.outcome == "depends" else ():
        branches += _branches(source)
    return State(op.outcome, op.default, op.solutions, ordered, error, switch, branches)


def exit_code(
    change: ReleaseChanges, *, allow_unknown: bool = False, exit_zero: bool = False
) -> ExitCode:
    """Return how a comparison ends: an op that is worse after than before is a finding."""
    result = CommandResult(
        did_nothing=not change.ops and not change.unchanged,
        has_findings=any(_is_worse(op) for op in change.ops),
        is_incomplete=change.unknown > 0,
    )
    return exit_codes.exit_code(result, allow_unknown=allow_unknown, exit_zero=exit_zero)


def _is_unknown(op: OpChange) -> bool:
    states = [state for state in (op.before, op.after) if state is not None]
    return any(state.outcome == "unknown" for state in states)


def _is_worse(op: OpChange) -> bool:
    if op.before is None or op.after is None:
        return False
    before = max(len(REPEATS) - 1, WORST_LAST.index(op.before.outcome))
    return WORST_LAST.index(op.after.outcome) > before
