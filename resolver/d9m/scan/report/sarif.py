"""The report of `d9m scan` as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

import hashlib
import urllib.parse
from collections.abc import Sequence
from typing import Any

from d9m.render import as_json
from d9m.scan.card_line import LINES, CardCheck, CardLine
from d9m.scan.file_names import printable_path
from d9m.scan.finding import RelatedSpot, ScanFinding, Severity, TextEdit
from d9m.scan.marking import PAGES
from d9m.scan.report import words
from d9m.scan.report.explain import as_markdown
from d9m.scan.result import ScanOutcome, Suppressed, missing
from d9m.scan.rules.catalogue import RULES
from d9m.scan.rules.rule import ScanRule
from d9m.scan.scanned import ScannedProgram, UnreadableFile

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_LEVELS: dict[Severity, str] = {"error": "error", "missing": "warning", "place": "note"}


def render(outcome: ScanOutcome) -> str:
    """One run: all rules, what is shown and missing, and what comments or the baseline hide."""
    report = outcome.report
    codes = (*(rule.code for rule in RULES), *LINES)
    numbers = {code: number for number, code in enumerate(codes)}
    results = [_result(finding, numbers) for finding in report.findings]
    results += [_missing(program, check, numbers) for program, check in missing(report)]
    results += [_suppressed(one, numbers) for one in outcome.hidden]
    driver = {
        "name": "d9m",
        "version": report.d9m.version,
        "informationUri": "https://d9m.github.io/d9m/",
        "rules": [*map(_rule, RULES), *(_line(code, line) for code, line in LINES.items())],
        "properties": {"kb_date": report.d9m.kb_date},
    }
    unread = report.files.unreadable
    notes: list[dict[str, Any]] = list(map(_note, unread))
    for sentence in report.unknown_releases:
        notes.append({"level": "error", "message": {"text": sentence}})
    if report.nothing:
        level = "error" if report.did_nothing else "note"
        notes.append({"level": level, "message": {"text": report.nothing}})
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "invocations": [
            {
                "executionSuccessful": not report.did_nothing,
                "toolExecutionNotifications": notes,
            }
        ],
    }
    return as_json.render({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: ScanRule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.code.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "helpUri": f"{PAGES}{rule.code}/",
        "help": {"text": rule.why, "markdown": as_markdown(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "tags": ["determinism", rule.family],
            "precision": "medium" if rule.family == "order" else "high",
        },
    }


def _line(code: str, line: CardLine) -> dict[str, Any]:
    """A line of a card as a rule."""
    return {
        "id": code,
        "name": "".join(part.capitalize() for part in code.split("-")),
        "shortDescription": {"text": line.asks},
        "helpUri": PAGES,
        "defaultConfiguration": {"level": _LEVELS["missing"]},
        "properties": {"tags": ["determinism", "program"], "precision": "high"},
    }


def _missing(program: ScannedProgram, check: CardCheck, numbers: dict[str, int]) -> dict[str, Any]:
    """A missing line of a card. One that names no place is at the top of the program."""
    region = {"startLine": check.line or 1}
    path = check.path or program.path
    digest = hashlib.sha256("\0".join((check.code, program.path)).encode()).hexdigest()
    return {
        "ruleId": check.code,
        "ruleIndex": numbers[check.code],
        "level": _LEVELS["missing"],
        "message": {"text": words.check_sentence(program, check)},
        "locations": [{"physicalLocation": {**_file(path), "region": region}}],
        "partialFingerprints": {"d9m/v1": digest[:32]},
    }


def _result(finding: ScanFinding, numbers: dict[str, int]) -> dict[str, Any]:
    message = finding.message
    if finding.workaround:
        message = f"{message} Fix: {finding.workaround}"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": message},
        "locations": [_location(finding)],
        "partialFingerprints": {"d9m/v1": finding.fingerprint},
    }
    if finding.related:
        spots = enumerate(finding.related, 1)
        result["relatedLocations"] = [{"id": number, **_related(spot)} for number, spot in spots]
    if finding.family == "order" and finding.related:
        result["codeFlows"] = [_flow(finding, finding.related)]
    if finding.fix is not None and finding.fix.edits:
        result["fixes"] = [_fix(finding)]
    return result


def _suppressed(one: Suppressed, numbers: dict[str, int]) -> dict[str, Any]:
    kind = "inSource" if one.by == "comment" else "external"
    suppression: dict[str, Any] = {"kind": kind}
    if one.reason:
        suppression["justification"] = one.reason
    return {**_result(one.finding, numbers), "suppressions": [suppression]}


def _file(path: str) -> dict[str, Any]:
    return {"artifactLocation": {"uri": urllib.parse.quote(path), "uriBaseId": "%SRCROOT%"}}


def _location(finding: ScanFinding) -> dict[str, Any]:
    region: dict[str, Any] = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
    }
    if (finding.end_line, finding.end_column) > (finding.line, finding.column):
        region["endColumn"] = finding.end_column
    location: dict[str, Any] = {"physicalLocation": {**_file(finding.path), "region": region}}
    if finding.cell is not None:
        location["logicalLocations"] = [{"name": f"cell {finding.cell}", "kind": "module"}]
    return location


def _related(spot: RelatedSpot) -> dict[str, Any]:
    region = {"startLine": spot.line, "startColumn": spot.column}
    found: dict[str, Any] = {
        "physicalLocation": {**_file(spot.path), "region": region},
        "message": {"text": spot.message},
    }
    if spot.cell is not None:
        found["logicalLocations"] = [{"name": f"cell {spot.cell}", "kind": "module"}]
    return found


def _flow(finding: ScanFinding, related: Sequence[RelatedSpot]) -> dict[str, Any]:
    """From what has no order to what builds on it."""
    start = {**_location(finding), "message": {"text": finding.message}}
    steps = [{"location": start}, *({"location": _related(spot)} for spot in related)]
    return {"threadFlows": [{"locations": steps}]}


def _fix(finding: ScanFinding) -> dict[str, Any]:
    assert finding.fix is not None
    replacements = list(map(_replacement, finding.fix.edits))
    return {
        "description": {"text": finding.fix.title},
        "artifactChanges": [{**_file(finding.path), "replacements": replacements}],
    }


def _replacement(edit: TextEdit) -> dict[str, Any]:
    region = {
        "startLine": edit.start[0],
        "startColumn": edit.start[1],
        "endLine": edit.end[0],
        "endColumn": edit.end[1],
    }
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _note(file: UnreadableFile) -> dict[str, Any]:
    return {
        "level": "error" if file.needed else "note",
        "message": {"text": f"{printable_path(file.path)} was not read: {file.why}"},
        "locations": [{"physicalLocation": _file(file.path)}],
    }
