"""The HTML of every page, as a parser that follows the standard counts faults: each record brings
texts of its own.
"""

from __future__ import annotations

import pytest
from site_build import built


def faults(page: str) -> list[str]:
    """What the parser complains of."""
    from markupever import HtmlOptions, Parser

    parser = Parser(HtmlOptions(exact_errors=True))
    parser.process(page)
    parser.finish()
    return list(parser.errors())


def test_every_page_is_valid_html() -> None:
    pages = sorted(built().rglob("*.html"))
    found = {
        path.relative_to(built()).as_posix(): faults(path.read_text(encoding="utf-8"))
        for path in pages
    }
    assert len(found) > 1000
    assert not {path: wrong for path, wrong in found.items() if wrong}


@pytest.mark.parametrize(
    "text",
    [
        "<a href=x>one<a href=y>two</a>",
        "</div>",
        "<div><p></div></p>",
        "<b><i></b></i>",
        "a < b",
        "&nope;",
        "<table><div></div></table>",
        "<p id=a id=b>",
        '<p a="1"b="2">',
        "<div",
    ],
)
def test_a_fault_of_html_is_noticed(text: str) -> None:
    assert not faults("<!doctype html><title>t</title><p>text")
    assert faults(f"<!doctype html><title>t</title><p>{text}")
