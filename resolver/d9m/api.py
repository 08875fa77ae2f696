"""From what a person typed to the advice: the one way in for every caller."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m.environment.environment import Environment, Setup, describe
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.model.advice import Advice
from d9m.model.op_syntax import Query
from d9m.model.records import Scope
from d9m.resolve import helper_calls, op_lookup
from d9m.resolve.helper_calls import Call
from d9m.resolve.resolver import resolve


def understand(kb: KnowledgeBase, asked: Setup, ops: Sequence[Query] = (), used: Sequence[Call] = ()) -> Environment:
    """The environment of a question, with what its ops and calls bring along. Raises UsageError."""
    brought = [package for each in ops if (package := op_lookup.brought_along(kb, each)) is not None]
    brought += [each.home for each in used if each.home]
    held = _named(kb, asked)
    extra = tuple((package, None) for package in dict.fromkeys(brought) if package not in held)
    return describe(kb, msgspec.structs.replace(asked, packages=(*asked.packages, *extra)))


def _named(kb: KnowledgeBase, asked: Setup) -> list[str]:
    return [kb.package_named(name) for name, _version in asked.packages]


def advise(
    kb: KnowledgeBase,
    asked: Setup,
    ops: Sequence[str] | None = None,
    scope: Scope = "run",
    made: Sequence[str] = (),
) -> Advice:
    """The advice for an environment and op items; without items, for every op known there.

    `made` are calls that the user makes already: ``seed_everything``. Raises
    UsageError for anything that cannot be answered.
    """
    used = [helper_calls.find(kb, _named(kb, asked), text) for text in made]
    queries = [op_syntax.parse(text) for text in ops or ()]
    environment = understand(kb, asked, queries, used)
    for each in used:
        helper_calls.must_exist(environment, each)
    if ops is None:
        items = op_lookup.everything(kb, environment)
    else:
        items = [op_lookup.find(kb, environment, each) for each in queries]
    return resolve(kb, environment, items, scope, used)
