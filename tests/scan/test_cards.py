"""Report cards of small projects: what each line must say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from folders import scanned, write

from d9m.scan.command import ending
from d9m.scan.report import words

FOLDER = Path(__file__).parent / "cards"
SIGNS = {"ok": "✓", "missing": "✗", "unknown": "?"}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.yaml")))
def test_a_card_says_what_is_set_and_what_is_missing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    write(tmp_path, case["files"])
    monkeypatch.chdir(tmp_path)
    outcome = scanned()
    report = outcome.report
    assert len(report.programs) == 1
    header = words.program_line(report.programs[0])
    assert [part for part in case["program"] if part not in header] == [], header
    lines = {check.name: check for check in report.programs[0].checks}
    for line, (sign, *parts) in case["card"].items():
        check = lines[line]
        assert SIGNS[check.status] == sign, check.text
        assert [part for part in parts if part not in check.text] == [], check.text
    errors = [each for each in report.findings if each.severity == "error"]
    if "errors" in case:
        assert [f"{each.path}:{each.line} {each.code}" for each in errors] == case["errors"]
    if "unread" in case:
        assert [file.path for file in report.files.unreadable if file.needed] == [case["unread"]]
    assert ending(outcome) == case["exit"]
    if "strict" in case:
        assert ending(scanned(goal="repeatable")) == case["strict"]
