"""From what a person typed to the advice: the one way in for every caller."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m import lookup, query
from d9m.advice import Advice
from d9m.environment import Asked, Environment, describe
from d9m.kb.tables import KnowledgeBase
from d9m.query import Query
from d9m.records import Scope
from d9m.resolve import resolve


def understand(kb: KnowledgeBase, asked: Asked, ops: Sequence[Query] = ()) -> Environment:
    """The environment of a question, with the add-ons that its ops bring along. Raises UsageError."""
    brought = [package for each in ops if (package := lookup.brought_along(kb, each)) is not None]
    named = {kb.package_named(name) for name, _version in asked.packages}
    extra = tuple((package, None) for package in dict.fromkeys(brought) if package not in named)
    return describe(kb, msgspec.structs.replace(asked, packages=(*asked.packages, *extra)))


def advise(kb: KnowledgeBase, asked: Asked, ops: Sequence[str] | None = None, scope: Scope = "run") -> Advice:
    """The advice for an environment and op items; without items, for every op known there.

    Raises UsageError for anything that cannot be answered.
    """
    if ops is None:
        environment = understand(kb, asked)
        return resolve(kb, environment, lookup.everything(kb, environment), scope)
    queries = [query.parse(text) for text in ops]
    environment = understand(kb, asked, queries)
    return resolve(kb, environment, [lookup.find(kb, environment, each) for each in queries], scope)
