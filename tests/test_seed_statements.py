"""Every statement of the seed documents is kept: by a record that cites the document, or by a
page.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from d9m.kb.kinds import BY_NAME, DOCUMENTS
from golden import TESTS, flat, records, seed

ROWS: list[dict[str, str]] = json.loads(
    (TESTS / "seed_statements.json").read_text(encoding="utf-8")
)


def named(row: dict[str, str]) -> str:
    return f"{row['seed']}-{row.get('record') or row.get('page')}"


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_the_statement_is_in_its_seed(row: dict[str, str]) -> None:
    assert row["quote"].strip()
    assert flat(row["quote"]) in seed(row["seed"])


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_a_record_that_cites_the_seed_keeps_it_or_a_page(row: dict[str, str]) -> None:
    assert row.keys() - {"outdated"} in ({"seed", "quote", "record"}, {"seed", "quote", "page"})
    if "page" in row:
        assert (TESTS.parent / row["page"]).is_file()
    else:
        kind, _, id_ = row["record"].partition("/")
        record = records().of(BY_NAME[kind]).get(id_)
        assert record is not None, f"no record {row['record']}"
        assert row["seed"] in _seeds_of(record), f"{row['record']} does not cite seed {row['seed']}"


def _seeds_of(record: Any) -> set[str]:
    """Seeds whose document a record cites, or is."""
    cited = {
        name for name in _documents(msgspec.to_builtins(record)) if name in _seeds_of_documents()
    }
    return {_seeds_of_documents()[name] for name in cited} | {getattr(record, "seed", None) or ""}


@functools.cache
def _seeds_of_documents() -> dict[str, str]:
    return {name: each.seed for name, each in records().of(DOCUMENTS).items() if each.seed}


def _documents(value: Any) -> Iterator[str]:
    """Every document that any evidence inside names."""
    if isinstance(value, dict):
        if isinstance(value.get("document"), str):
            yield value["document"]
        for each in value.values():
            yield from _documents(each)
    elif isinstance(value, list):
        for each in value:
            yield from _documents(each)


def test_all_four_seeds_are_covered_without_repetition() -> None:
    assert len(ROWS) >= 130
    assert {row["seed"] for row in ROWS} == {"000", "001", "002", "003"}
    told = [(row["seed"], flat(row["quote"]), row.get("record"), row.get("page")) for row in ROWS]
    assert sorted({each for each in told if told.count(each) > 1}, key=str) == []


def test_what_is_outdated_says_what_holds_now() -> None:
    assert all(row["outdated"].strip() for row in ROWS if "outdated" in row)
    assert any("outdated" in row for row in ROWS)
