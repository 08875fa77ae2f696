"""Every rule there is."""

from __future__ import annotations

import msgspec

from d9m.scan.rules import (
    environments,
    files,
    hash_seed,
    launchers,
    library_calls,
    ops,
    order,
    programs,
    releases,
    seeds,
    switches,
    timing,
    unswitched,
    upkeep,
    variables,
    workers,
)
from d9m.scan.rules.rule import ScanRule


def _joined(rule: ScanRule) -> ScanRule:
    """A rule whose prose is one line each."""
    why, silent = " ".join(rule.why.split()), " ".join(rule.silent.split())
    return msgspec.structs.replace(rule, why=why, silent=silent)


RULES: tuple[ScanRule, ...] = tuple(
    map(
        _joined,
        (
            *hash_seed.RULES,
            *variables.RULES,
            *switches.RULES,
            *timing.RULES,
            *releases.RULES,
            *launchers.CONTRADICTIONS,
            *programs.RULES,
            *library_calls.RULES,
            *seeds.RULES,
            *environments.RULES,
            *timing.SEEDS,
            *workers.RULES,
            *order.HASHES,
            *order.RULES,
            *ops.RULES,
            *unswitched.RULES,
            *files.RULES,
            *launchers.RULES,
            *programs.POLICY,
            *upkeep.RULES,
        ),
    )
)
"""In the order of the families."""

BY_CODE: dict[str, ScanRule] = {rule.code: rule for rule in RULES}
