"""Codes and families of rules as people name them: on the command line, in a configuration, in a
comment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import get_args

from d9m.errors import UsageError, nearest, quote
from d9m.scan.card_line import LINES
from d9m.scan.finding import Family, ScanFinding
from d9m.scan.rules.catalogue import RULES
from d9m.scan.rules.rule import ScanRule

FAMILIES: tuple[Family, ...] = get_args(Family)
CARD_FAMILY: Family = "program"
CODES = (*(rule.code for rule in RULES), *LINES)


def check_codes(words: Iterable[str]) -> None:
    """Raises UsageError for a word that is neither a code nor a family."""
    for word in words:
        if word not in CODES and word not in FAMILIES:
            names = (*CODES, *FAMILIES)
            raise UsageError(
                f"no rule or family is called {quote(word)}",
                nearest=nearest(word, names),
                allowed=names,
                tip="see: d9m list rules",
            )


def check_selection(select: Collection[str], ignore: Collection[str]) -> None:
    """Raises UsageError where no rule is selected that is not ignored."""
    if any(is_selected(code, select, ignore) for code in CODES):
        return
    raise UsageError("no rule is left: all selected ones are ignored", tip="see: d9m list rules")


def is_selected(code: str, select: Collection[str], ignore: Collection[str]) -> bool:
    """Whether the rule with a code is selected and not ignored."""
    own = {code, *(rule.family for rule in RULES if rule.code == code)}
    own |= {CARD_FAMILY} if code in LINES else set()
    return own.isdisjoint(ignore) and not (select and own.isdisjoint(select))


def find_rule(code: str) -> ScanRule:
    """The rule with this code. Raises UsageError."""
    for rule in RULES:
        if rule.code == code:
            return rule
    raise UsageError(
        f"no rule is called {quote(code)}",
        nearest=nearest(code, CODES),
        allowed=CODES,
        tip="see: d9m list rules",
    )


def names(words: Collection[str], finding: ScanFinding) -> bool:
    """Whether codes or families name a finding."""
    return finding.code in words or finding.family in words
