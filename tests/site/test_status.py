"""The status tables and release pages say what the resolver says."""

from __future__ import annotations

import functools
import itertools
import random
from typing import TYPE_CHECKING

import pytest
from site_build import generator, real

from d9m.api import advise
from d9m.environment.environment import Setup

if TYPE_CHECKING:
    from pages import grid


@functools.cache
def tables() -> list[grid.Grid]:
    generator()
    from pages.grid import grids

    return [each for package in sorted(real().meta.prefixes) for each in grids(real(), package)]


def test_every_row_covers_every_line_of_releases() -> None:
    for table in tables():
        for row in table.rows:
            widths = [each if isinstance(each, int) else each.width for each in row.cells]
            assert sum(widths) == len(table.lines), row.op


def test_a_table_has_parts_that_hold_each_row_once() -> None:
    """A browser lays out those that are in view: the page of PyTorch has 9000 elements."""
    generator()
    from pages import status
    from pages.places import PageContext

    (table,) = [each for each in tables() if (each.package, each.device) == ("torch", "cuda")]
    parts = status.table(PageContext(real(), "status/torch.md"), table).split(
        '<div class="d9m-part"'
    )[1:]
    rows = [part.count('<th scope="row">') for part in parts]
    assert sum(rows) == len(table.rows) > 200
    assert max(rows) <= 40
    assert all(f"--d9m-rows:{count}" in part for count, part in zip(rows, parts))
    assert all("<thead>" in part for part in parts)


def test_a_cell_says_what_the_resolver_says() -> None:
    chance = random.Random(7)
    for _ in range(60):
        table = chance.choice(tables())
        row = chance.choice(table.rows)
        place = chance.randrange(len(table.lines))
        cell = next(each for each, start, end in spread(row) if start <= place < end)
        asked = Setup(((table.package, table.lines[place].newest),), device=table.device)
        ops = [op for op in advise(real(), asked).ops if op.sources]
        here = [op for op in ops if op.query == row.op]
        if row.arguments and here:
            call = f"{row.op}[{row.arguments.split(' or ')[0]}]"
            answers = advise(real(), asked, [call]).ops
            here = [op for op in answers if op.query == call and op.sources]
        if isinstance(cell, int):
            assert not here
        else:
            (told,) = here
            assert (cell.outcome, cell.default) == (told.outcome, told.default)
            assert cell.outcome != "solved" or list(cell.by) == told.solutions
            assert bool(cell.branches) == (cell.outcome == "depends")


def test_an_argument_that_decides_has_a_separate_row() -> None:
    """Bilinear interpolation raises in PyTorch 2.0 and repeats from 2.1 on, where the default of
    the same op repeats in both (tests/facts/torch_api.md).
    """
    table = next(each for each in tables() if (each.package, each.device) == ("torch", "cuda"))
    rows = {row.arguments: row for row in table.rows if row.op == "torch.nn.functional.interpolate"}
    bilinear = next(row for arguments, row in rows.items() if "mode=bilinear" in arguments)
    place = [each.name for each in table.lines].index("2.0")
    found = {
        row.arguments: [
            cell.outcome if not isinstance(cell, int) else None
            for cell, start, end in spread(row)
            for at in range(start, end)
            if at in (place, place + 1)
        ]
        for row in (rows[""], bilinear)
    }
    assert found == {"": ["deterministic"] * 2, bilinear.arguments: ["raises", "solved"]}


def spread(row: grid.GridRow) -> list[tuple[grid.GridCell | int, int, int]]:
    found: list[tuple[grid.GridCell | int, int, int]] = []
    place = 0
    for each in row.cells:
        width = each if isinstance(each, int) else each.width
        found.append((each, place, place + width))
        place += width
    return found


def test_an_upgrade_tells_what_the_two_lines_answer_differently() -> None:
    """cumsum raises up to PyTorch 2.5, and the shipped library stopped in 2.6
    (tests/facts/torch_api.md).
    """
    generator()
    from pages import grid, releases

    lines = {each.name: each for each in grid.lines(real(), "torch")}
    found = releases.changes(real(), "torch", lines["2.5"], lines["2.6"])
    change = next(each for each in found if "torch.cumsum" in each.ops)
    assert change.before is not None
    assert change.after is not None
    assert (change.before.outcome, change.after.outcome, change.worse) == (
        "raises",
        "solved",
        False,
    )


def test_what_got_worse_comes_first() -> None:
    generator()
    from pages import grid, releases

    for package in ("torch", "tensorflow"):
        every = grid.lines(real(), package)
        for earlier, later in itertools.pairwise(every):
            worse = [each.worse for each in releases.changes(real(), package, earlier, later)]
            assert worse == sorted(worse, reverse=True)


def test_there_is_a_page_for_every_line_and_the_table_leads_to_it() -> None:
    generator()
    from pages import releases, status

    made = dict(releases.pages(real()))
    for table in tables():
        assert {releases.path(table.package, each.name) for each in table.lines} <= made.keys()
    text = dict(status.pages(real()))[status.path("torch")]
    assert 'href="../../releases/torch/2.6/"' in text


@pytest.mark.parametrize(
    ("here", "page", "address"),
    [
        ("status/torch.md", "sources/pytorch/cumsum.md", "../../sources/pytorch/cumsum/"),
        ("index.md", "status/torch.md", "status/torch/"),
        ("status/torch.md", "index.md", "../../"),
        ("releases/torch/2.6.md", "status/index.md", "../../../status/"),
    ],
)
def test_addresses_in_html_are_those_that_are_served(here: str, page: str, address: str) -> None:
    generator()
    from pages import places

    assert places.PageContext(real(), here).served(page) == address


def test_the_bar_of_a_record_tells_the_answer_of_each_release() -> None:
    generator()
    from d9m.browse import history
    from pages import bar

    told = history.of(real(), "pytorch/cumsum")
    text = str(bar.bar(real(), told.usual, real().releases("torch")))
    assert text.startswith('<div class="d9m-bar" role="img" aria-label="')
    label = text.split('aria-label="')[1].split('"')[0]
    assert label.endswith("2.6 and later: deterministic with settings")
    assert "1.13 – 2.5: raises an error" in label


def test_the_bar_of_a_record_says_what_decides() -> None:
    """scatter_reduce sums repeatably and multiplies not: half good is not bad."""
    generator()
    from d9m.browse import history
    from pages import bar

    told = history.of(real(), "pytorch/scatter-reduce")
    text = str(bar.bar(real(), told.usual, real().releases("torch")))
    newest = text.rpartition("<span ")[2]
    assert newest.startswith('class="d9m-depends"')
    title = newest.split('title="')[1].split('"')[0]
    assert "deterministic with settings" in title
    assert "raises an error" in title


def test_a_source_shows_what_runs_measured_of_it() -> None:
    generator()
    from pages import runs

    seen = runs.of_source(real(), "pytorch/index-put-accumulate")
    assert ("torch-2.13.0-cpu", "fixed-by-advice") in {
        (each.id, each.seen.verdict) for each in seen
    }
