"""Generated pages have the HTML that MkDocs itself would give them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pytest
from site_build import ROOT, generator, real_pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

SIGNS = {
    "code": "one `two` three ``four ` five``",
    "escape": r"one \* two \_ three \\ four",
    "link": "one [two](three.md) four",
    "autolink": "one <https://example.org/two> three",
    "html": 'one <b title="two">three</b><wbr>four',
    "entity": "one &amp; two &#42; three &lt;b&gt;",
    "strong": "one **two** three *four* five _six_ __seven__",
    "plain": "one, two: 3 (4.5) {6} 7! ~ | # > - +",
    "after a tag": "<em>one</em> two [three](four.md) five <em>six</em> seven `eight`",
    "table": "| one | two |\n|---|---|\n| [`x`](three.md) | 4 &lt; 5 |\n| six | **7** |",
    "anchor in HTML": '<div id="one">two</div>\n\n<a name="three"></a>\n\n[four](#one)',
    "fence": '``` { .sh title="one" }\necho *two*\n```\n\n```python\nx = 1\n```',
    "tabs": '=== "one"\n\n    two `three`\n\n=== "four"\n\n    five',
    "box": '!!! note "one"\n    two [three](four.md)\n\n??? tip "five"\n    six',
    "headings": "# one `two`\n\n## three\n\n### three\n\ntext",
    "list": "1. one\n2. two `three`\n    - four [five](six.md)\n\n    seven",
}


@pytest.fixture(scope="module")
def configuration() -> Iterator[MkDocsConfig]:
    generator()
    from mkdocs.config import load_config

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("NO_MKDOCS_2_WARNING", "1")
        yield load_config(str(ROOT / "mkdocs.yml"))


def differing(configuration: MkDocsConfig, texts: Iterable[tuple[str, str]]) -> list[str]:
    """Pages that the shared converter makes something else of, one after the other, than a new one
    for each.
    """
    from mkdocs.structure.files import File, Files
    from mkdocs.structure.pages import Page

    from conversion import GeneratedPage, converter

    shared = converter(configuration)
    found: list[str] = []
    for path, text in texts:
        file = File(path, None, "/nowhere", use_directory_urls=True)
        file.content_string = text
        made: list[Page] = [
            Page(None, file, configuration),
            GeneratedPage(file, configuration, shared),
        ]
        for page in made:
            page.read_source(configuration)
            page.render(configuration, Files([file]))
        if _result(made[0]) != _result(made[1]):
            found.append(path)
    return found


def _result(page: Page) -> tuple[object, ...]:
    return page.content, page.title, [each.url for each in page.toc], page.present_anchor_ids


@pytest.mark.parametrize("what", SIGNS)
def test_every_sign_of_markdown_is_read(configuration: MkDocsConfig, what: str) -> None:
    texts = [("before.md", "# [one](two.md) `x`"), ("page.md", SIGNS[what])]
    assert not differing(configuration, texts)


def test_what_no_generated_page_has_is_not_read(configuration: MkDocsConfig) -> None:
    image = [("page.md", "![one](two.png)")]
    assert differing(configuration, image) == ["page.md"]


def test_pages_of_each_kind_are_what_mkdocs_makes(configuration: MkDocsConfig) -> None:
    folders: dict[str, list[tuple[str, str]]] = {}
    for path, text in real_pages().items():
        folders.setdefault(os.path.dirname(path), []).append((path, text))
    chosen = [page for own in folders.values() for page in (own[0], max(own, key=_length))]
    assert len(folders) > 20
    assert not differing(configuration, chosen)


def _length(page: tuple[str, str]) -> int:
    return len(page[1])


@pytest.mark.nightly
def test_every_page_is_what_mkdocs_makes(configuration: MkDocsConfig) -> None:
    assert not differing(configuration, real_pages().items())
