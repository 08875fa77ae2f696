"""What a parser that follows the standard has to say of a page. A module of its own: other processes import it."""

from __future__ import annotations

from pathlib import Path


def faults_of_html(page: Path) -> list[str]:
    """The faults of one page, by the standard's names."""
    from tinyhtml5.parser import HTMLParser

    parser = HTMLParser()
    parser.parse(page.read_text(encoding="utf-8"))
    return [fault for _place, fault, _values in parser.errors]
