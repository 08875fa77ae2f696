"""Small projects for tests, and a scan of them in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d9m.scan.result import ScanOutcome
from d9m.scan.scanning import ScanRequest, configured, scan
from golden import knowledge_base


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8")


def scanned(*paths: str, **options: Any) -> ScanOutcome:
    """What a scan of the current folder finds."""
    kb = knowledge_base()
    request = ScanRequest(paths=paths, **{"cache": False, "jobs": 1, **options})
    return scan(kb, request, configured(kb, request))


def codes(outcome: ScanOutcome) -> list[str]:
    """``path:line code`` of every finding."""
    return [f"{finding.path}:{finding.line} {finding.code}" for finding in outcome.report.findings]
