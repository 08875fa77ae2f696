"""What the tests around code ask of a value, and whether a value answers them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeAlias

from d9m.scan.facts import Comparison, Predicate
from d9m.scan.syntax.expressions import dotted, literal

Predicates: TypeAlias = tuple[Predicate, ...]
"""All of them must hold."""

_OPPOSITES: dict[Comparison, Comparison] = {
    "true": "false",
    "false": "true",
    "in": "not in",
    "not in": "in",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}
_ORDERS: dict[type[ast.cmpop], Comparison] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_EQUAL = (ast.Eq, ast.Is, ast.In)
_DIFFERENT = (ast.NotEq, ast.IsNot, ast.NotIn)


def predicates(test: ast.expr) -> tuple[Predicates, Predicates]:
    """What must hold where the first arm of a test runs, and where the other does. Empty if the
    test is more than a simple check of names.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        body, other = predicates(test.operand)
        return other, body
    if isinstance(test, ast.BoolOp):
        arms = [predicates(part) for part in test.values]
        place = 0 if isinstance(test.op, ast.And) else 1
        together: list[Predicate] = []
        for arm in arms:
            together += arm[place]
        return (tuple(together), ()) if place == 0 else ((), tuple(together))
    asked = _asked(test)
    if asked is None:
        return (), ()
    return (asked,), (Predicate(asked.subject, _OPPOSITES[asked.test], asked.values),)


def _asked(test: ast.expr) -> Predicate | None:
    """``mode``, ``mode == "train"``, ``mode in ("train", "val")``, ``alpha > 0``."""
    if not isinstance(test, ast.Compare):
        subject = dotted(test)
        return Predicate(subject, "true") if subject is not None else None
    subject = dotted(test.left)
    if subject is None or len(test.ops) != 1:
        return None
    operator, other = test.ops[0], test.comparators[0]
    if type(operator) in _ORDERS:
        bound = literal(other)
        return Predicate(subject, _ORDERS[type(operator)], (bound,)) if bound else None
    many = isinstance(operator, ast.In | ast.NotIn)
    if many and not isinstance(other, ast.Tuple | ast.List | ast.Set):
        return None
    values = [literal(part) for part in (getattr(other, "elts", ()) if many else (other,))]
    known = tuple(value for value in values if value is not None)
    if len(known) < len(values) or not isinstance(operator, (*_EQUAL, *_DIFFERENT)):
        return None
    return Predicate(subject, "in" if isinstance(operator, _EQUAL) else "not in", known)


def answer(predicate: Predicate, written: str) -> bool | None:
    """Whether a literal, as written, meets a predicate; None where that cannot be said.

    >>> answer(Predicate("mode", "in", ("'train'",)), "'test'")
    False
    """
    try:
        value: object = ast.literal_eval(written)
        others: list[object] = [ast.literal_eval(other) for other in predicate.values]
    except (ValueError, SyntaxError):
        return None
    test = predicate.test
    if test in ("true", "false"):
        return bool(value) == (test == "true")
    if test in ("in", "not in"):
        return (value in others) == (test == "in")
    bound = others[0]
    if not isinstance(value, int | float) or not isinstance(bound, int | float):
        return None
    below = value < bound or (value == bound and test in ("<=", ">"))
    return below == (test in ("<", "<="))


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether statements end what they stand in, so that nothing after them runs."""
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
