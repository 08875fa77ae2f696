"""The rules of the scan as a list: ``d9m list rules``."""

from __future__ import annotations

from d9m.about import SCHEMA_VERSION, __version__
from d9m.browse.listing import ListRow, RecordList
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Tool
from d9m.scan.rules.catalogue import RULES


def rule_list(
    kb: KnowledgeBase, package: str | None, text: str | None, evidence: str | None
) -> RecordList:
    """The rules, if so asked those with a text in them. Raises UsageError for other filters."""
    if package is not None or evidence is not None:
        raise UsageError("rules belong to no package and have no evidence: filter with --grep")
    rows = [ListRow(rule.code, "", rule.title, f"{rule.family} {rule.severity}") for rule in RULES]
    if text is not None:
        wanted = text.lower()
        rows = [row for row in rows if wanted in f"{row.id} {row.text} {row.status}".lower()]
    return RecordList(SCHEMA_VERSION, Tool(__version__, kb.meta.date), "rules", rows)
