"""The scan from Python: what ``d9m.scan(...)`` does."""

from __future__ import annotations

import os

from d9m.kb.locate import open_knowledge_base
from d9m.kb.store import KnowledgeBase
from d9m.scan import scanning
from d9m.scan.result import ScanReport
from d9m.scan.scanning import ScanRequest


def scan(*paths: str | os.PathLike[str], kb: KnowledgeBase | None = None) -> ScanReport:
    """Read the code and job files under the paths, or of the current folder; the fields are those
    of the JSON. Raises `d9m.UsageError`.
    """
    kb = kb or open_knowledge_base()
    request = ScanRequest(paths=tuple(os.fspath(path) for path in paths), cache=False)
    return scanning.scan(kb, request, scanning.configured(kb, request)).report
