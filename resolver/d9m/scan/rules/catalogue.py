"""Every rule there is."""

from __future__ import annotations

from d9m.scan.rules.rule import ScanRule

RULES: tuple[ScanRule, ...] = ()
"""In the order of the families."""

BY_CODE: dict[str, ScanRule] = {rule.code: rule for rule in RULES}
