"""`d9m kb lint`: every fault of every record in one run.

A rule is a value (`rule.Rule`): a code, a paragraph on why, and a check over the
shared lookups (`index.Index`). A family of rules a module; `RULES` lists all.
To add one: write the check, add it to its module's `RULES`, and add a bad record
and a near miss under ``tests/kb/lint/CODE/``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from d9m.authoring.lint import (
    catalogue,
    conditions,
    dates,
    evidence,
    identity,
    loading,
    measured,
    references,
    releases,
    setting_changes,
    solving,
    symptoms,
    text,
    timeline,
)
from d9m.authoring.lint.index import RecordIndex
from d9m.authoring.lint.report import as_json, as_text
from d9m.authoring.lint.rule import Rule
from d9m.errors import UsageError, nearest, quote
from d9m.kb import yaml_files
from d9m.kb.yaml_files import Fault

__all__ = ["RULES", "Fault", "Rule", "as_json", "as_text", "find", "lint"]

RULES: tuple[Rule, ...] = (
    *loading.RULES,
    *identity.RULES,
    *references.RULES,
    *conditions.RULES,
    *releases.RULES,
    *timeline.RULES,
    *solving.RULES,
    *setting_changes.RULES,
    *catalogue.RULES,
    *evidence.RULES,
    *measured.RULES,
    *dates.RULES,
    *symptoms.RULES,
    *text.RULES,
)

_BY_CODE = {each.code: each for each in RULES}


def lint(root: Path) -> list[Fault]:
    """All faults of all files under `root`, by file and line. A file that cannot be read takes only
    itself out. Raises DataError where there is no record at all.
    """
    loaded = yaml_files.load_some(root)
    index = RecordIndex(loaded)
    found = set(loaded.faults)
    for rule in RULES:
        found.update(fault for fault in rule.faults(index) if not _follows(fault, loaded.faults))
    return sorted(found)


def _follows(fault: Fault, earlier: Iterable[Fault]) -> bool:
    """Whether a fault is about what was left out or filled in because of an earlier one: the same
    field, or a key that seems to be missing beside a misspelt one.
    """
    return any(
        f"{fault.field}.".startswith(f"{each.field}.")
        or (not fault.field and each.rule == "unknown-key")
        for each in earlier
        if each.file == fault.file and each.field
    )


def find(code: str) -> Rule:
    """The rule with this code. Raises UsageError, with the nearest codes."""
    found = _BY_CODE.get(code)
    if found is None:
        raise UsageError(
            f"no lint rule is called {quote(code)}",
            nearest=nearest(code, _BY_CODE),
            allowed=_BY_CODE,
        )
    return found
