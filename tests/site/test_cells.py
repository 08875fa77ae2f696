"""Cells of tables are read once for all pages, and become what they would become without that."""

from __future__ import annotations

import pytest
from site_build import generator

CELLS = (
    "plain words, 1.2 and (more)",
    "`code` and `a|b`".replace("|", ""),
    "[a link](../sources/a.md) and [another](b.md#c)",
    r"bias\_add \* \[x\]",
    '<span class="md-tag">✓ repeats</span> with `settings`',
    "a&nbsp;b &lt; c &amp;",
    "**bold** and *slanted* and snake_case_name",
    "<time>2026-11-21</time>, `x`, <code>y\\_z</code>",
    "https://example.org/a_b_c <https://example.org>",
    "[`code in a link`](x.md) <wbr> <b>raw</b>",
)


@pytest.fixture(scope="module", autouse=True)
def _generator() -> None:
    generator()


def _page(cells: tuple[str, ...]) -> str:
    rows = "\n".join(f"| {cell} | {cell} |" for cell in cells)
    return f"# Title\n\nText with <i>raw</i> and `code`.\n\n| A | `B` |\n|---|---|\n{rows}\n"


def _html(page: str, *more: object) -> str:
    import markdown

    named = ["attr_list", "md_in_html", "tables"]
    return markdown.markdown(page, extensions=[*named, *more])  # type: ignore[list-item]


def test_a_page_is_the_same_with_its_cells_read_once() -> None:
    from cells import TableCells

    once = TableCells()
    pages = [_page(CELLS), _page(CELLS[::-1]), _page(CELLS[3:6] * 3)]
    assert [_html(page, once) for page in pages] == [_html(page) for page in pages]
    assert set(once.known) <= {*CELLS, "`B`"}
    assert "plain words, 1.2 and (more)" not in once.known


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_the_same_on_its_second_page(cell: str) -> None:
    from cells import TableCells

    once = TableCells()
    page = _page((cell,))
    assert _html(page, once) == _html(page, once) == _html(page)
