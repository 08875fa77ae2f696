"""Each researched row about the stack around the frameworks is a record, or was rejected for a
reason.
"""

from __future__ import annotations

import collections
import json
from pathlib import Path
from typing import Any

import pytest

from d9m.kb.kinds import BY_NAME

HERE = Path(__file__).parent
KB = HERE.parent / "kb"
ROWS: list[dict[str, Any]] = json.loads((HERE / "facts/stack.json").read_text(encoding="utf-8"))
PARTS: dict[str, list[dict[str, Any]]] = {
    path.name: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((HERE / "stack").glob("*.json"))
}
ENTRIES = [(part, entry) for part, entries in PARTS.items() for entry in entries]

MOST_REJECTED = 20
"""A tenth: the list of rejected rows stays short."""


def test_every_row_is_answered_exactly_once() -> None:
    answered = collections.Counter(entry["row"] for _part, entry in ENTRIES)
    assert [row for row in range(len(ROWS)) if row not in answered] == []
    assert [row for row, times in answered.items() if times > 1] == []
    assert set(answered) <= set(range(len(ROWS)))


@pytest.mark.parametrize("part", PARTS)
def test_an_entry_copies_the_row_that_it_answers(part: str) -> None:
    wrong = [
        entry["row"]
        for entry in PARTS[part]
        if (entry["system"], entry["setting"])
        != (ROWS[entry["row"]]["system"], ROWS[entry["row"]]["setting"])
    ]
    assert wrong == []


@pytest.mark.parametrize("part", PARTS)
def test_an_entry_names_records_or_says_why_there_is_none(part: str) -> None:
    for entry in PARTS[part]:
        assert set(entry) in (
            {"row", "system", "setting", "records"},
            {"row", "system", "setting", "rejected"},
        )
        assert entry.get("records") or len(entry.get("rejected", "")) > 20, entry


@pytest.mark.parametrize("part", PARTS)
def test_each_named_record_exists(part: str) -> None:
    named = {record for entry in PARTS[part] for record in entry.get("records", [])}
    assert sorted(record for record in named if not (KB / f"{record}.yaml").is_file()) == []
    assert {record.partition("/")[0] for record in named} <= BY_NAME.keys()


def test_few_rows_are_rejected() -> None:
    rejected = [entry["row"] for _part, entry in ENTRIES if "rejected" in entry]
    assert len(rejected) <= MOST_REJECTED
