"""What changes for the same ops between two releases of one package."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.errors import ExitCode, UsageError, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS, WORST_LAST, Advice, OpAnswer, Tool
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


class OpChange(msgspec.Struct, frozen=True):
    query: str
    before: State | None
    after: State | None


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
    first = _states(kb, _with_version(kb, asked, package, before), ops, scope)
    second = _states(kb, _with_version(kb, asked, package, after), ops, scope)
    queries = list(dict.fromkeys([*first[1], *second[1]]))
    changes = [OpChange(query, first[1].get(query), second[1].get(query)) for query in queries]
    changed = [change for change in changes if change.before != change.after]
    return ReleaseChanges(
        schema_version=SCHEMA_VERSION,
        d9m=first[0].d9m,
        package=package,
        from_=before,
        to=after,
        ops=changed,
        settings_before=first[0].settings,
        settings_after=second[0].settings,
        unchanged=len(changes) - len(changed),
    )


def _with_version(kb: KnowledgeBase, asked: Setup, package: str, version: str) -> Setup:
    packages: list[tuple[str, str | None]] = []
    for name, given in asked.packages:
        packages.append((name, version if kb.package_named(name) == package else given))
    return msgspec.structs.replace(asked, packages=tuple(packages))


def _states(
    kb: KnowledgeBase, asked: Setup, ops: Sequence[str] | None, scope: Scope
) -> tuple[Advice, dict[str, State]]:
    advice = advise(kb, asked, ops, scope)
    return advice, {op.query: _state(op) for op in advice.ops}


def _state(op: OpAnswer) -> State:
    alternatives: set[tuple[str, ...]] = set()
    for source in op.sources:
        alternatives.update(tuple(labels) for labels in source.alternatives)
    error = next((source.error for source in op.sources if source.error), None)
    ordered = [list(labels) for labels in sorted(alternatives)]
    switch = next((source.raised_by for source in op.sources if source.outcome == "raises"), None)
    return State(op.outcome, op.default, op.solutions, ordered, error, switch)


def exit_code(change: ReleaseChanges) -> ExitCode:
    """An op that is worse after than before is a finding."""
    worse = any(_is_worse(op) for op in change.ops)
    return ExitCode.FINDINGS if worse else ExitCode.ANSWERED


def _is_worse(op: OpChange) -> bool:
    if op.before is None or op.after is None:
        return False
    before = max(len(REPEATS) - 1, WORST_LAST.index(op.before.outcome))
    return WORST_LAST.index(op.after.outcome) > before
