"""Every list, in every format, as wide as any terminal."""

from __future__ import annotations

import json

import pytest

from d9m.browse.listing import KINDS, PLAIN_NAMES, RecordList, listing
from d9m.render import as_json
from d9m.render.browse.listing import overview, render
from golden import knowledge_base

WIDTHS = [40, 60, 80, 120, 200]


def listed(kind: str) -> RecordList:
    return listing(knowledge_base(), kind, None, None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_list_fits_the_page_and_leaves_nothing_out(kind: str, width: int) -> None:
    found = listed(kind)
    text = render(found, width).plain()
    flat = "".join(text.split())
    names = [row.id for row in found.rows]
    if kind == "solutions":
        names = [name for row in found.rows for name in (row.text, row.status)]
    assert [name for name in names if "".join(name.split()) not in flat] == []
    long = [line for line in text.splitlines() if len(line) > max(60, min(width, 120))]
    assert [line for line in long if len(line.split()) > 1] == [], (
        "only a name is longer than the page"
    )


def test_a_list_of_solutions_names_what_people_type() -> None:
    lines = render(listed("solutions"), 80).plain().splitlines()
    assert "torch.use_deterministic_algorithms(True)" in "\n".join(lines)
    assert not any(line.split()[0] in ("UDA", "CBO", "TDO") for line in lines[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_takes_a_few_lines_for_each_row(kind: str) -> None:
    found = listed(kind)
    words = sum(len(f"{row.id} {row.text} {row.status}") for row in found.rows)
    assert len(render(found, 80).plain().splitlines()) < 3 * len(found.rows) + words / 30


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_is_json_as_well(kind: str) -> None:
    found = listed(kind)
    assert [row["id"] for row in json.loads(as_json.render(found))["rows"]] == [
        row.id for row in found.rows
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_lists_are_listed(width: int) -> None:
    lines = overview([listed(kind) for kind in KINDS], width).plain().splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == [
        PLAIN_NAMES.get(kind, kind) for kind in KINDS
    ]


def test_a_list_goes_by_its_plain_name_as_well() -> None:
    for kind, name in PLAIN_NAMES.items():
        assert listed(name) == listed(kind)


def test_a_list_that_nothing_matches_says_so() -> None:
    nothing = listing(knowledge_base(), "sources", None, "no such text anywhere")
    assert render(nothing).plain() == "Nothing matches.\n"
