"""Findings that a project knows already, one a line, so that only new ones are reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from d9m import files
from d9m.errors import DataError, quote, reason
from d9m.scan.finding import ScanFinding

BASELINE_VERSION = 1


class BaselineEntry(msgspec.Struct, frozen=True, order=True):
    path: str
    code: str
    fingerprint: str


class Baseline(msgspec.Struct, frozen=True):
    version: int
    findings: list[BaselineEntry]


def read_baseline(file: str) -> Baseline:
    """Raises DataError for a file that is missing, damaged or from another version."""
    try:
        content = files.text(file)
        files.require_version(file, content, "version", BASELINE_VERSION)
        return msgspec.json.decode(content, type=Baseline)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"baseline {quote(file)} cannot be read: {reason(error)}") from None
    except files.UNREADABLE as error:
        raise DataError(
            f"baseline {quote(file)} is damaged: {error}", tip="write it anew: --write-baseline"
        ) from None


def render_baseline(findings: Iterable[ScanFinding]) -> str:
    """The file that holds these findings, one a line."""
    entries: list[BaselineEntry] = []
    for finding in findings:
        entries.append(BaselineEntry(finding.path, finding.code, finding.fingerprint))
    entries.sort()
    lines = ",\n".join(f"  {msgspec.json.encode(entry).decode()}" for entry in entries)
    between = f"\n{lines}\n" if lines else ""
    return f'{{"version":{BASELINE_VERSION},"findings":[{between}]}}\n'


def split_known(
    findings: Sequence[ScanFinding], baseline: Baseline
) -> tuple[list[ScanFinding], list[ScanFinding], list[BaselineEntry]]:
    """The findings that are new, those that the baseline holds, and its entries that are gone."""
    left = Counter(baseline.findings)
    new: list[ScanFinding] = []
    known: list[ScanFinding] = []
    for finding in findings:
        entry = BaselineEntry(finding.path, finding.code, finding.fingerprint)
        if left[entry] > 0:
            left[entry] -= 1
            known.append(finding)
        else:
            new.append(finding)
    return new, known, sorted(left.elements())
