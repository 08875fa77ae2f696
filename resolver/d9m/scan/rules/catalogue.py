"""Every rule there is."""

from __future__ import annotations

import msgspec

from d9m.scan.rules import order, releases, seeds, switches, upkeep, variables
from d9m.scan.rules.rule import ScanRule


def _joined(rule: ScanRule) -> ScanRule:
    """A rule whose prose is one line each."""
    why, silent = " ".join(rule.why.split()), " ".join(rule.silent.split())
    return msgspec.structs.replace(rule, why=why, silent=silent)


RULES: tuple[ScanRule, ...] = (
    *map(_joined, (*variables.RULES, *switches.RULES, *releases.RULES)),
    *map(_joined, (*seeds.RULES, *order.HASHES, *order.RULES)),
    *map(_joined, (*variables.LOST, *upkeep.RULES)),
)
"""In the order of the families."""
