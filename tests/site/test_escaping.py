"""Text from records shows as it is, whatever is in it."""

from __future__ import annotations

import functools
import html
import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from site_build import ROOT, Html, build, built, generated, generator, uneven_rows

from d9m.kb import locate

SMALL = ROOT / "tests" / "render" / "kb"

NASTY = (
    "<script>alert(1)</script> | `tick` ``` **bold** _it_ [x](javascript:alert(1)) "
    "{: .evil #evil } &amp; &lt;b&gt; "
    '</title></code><img src=x onerror=alert(1)> "quote" \\ ~~~ https://evil.example/ '
    '![i](https://evil.example/i.png) '
    + "name" * 100
)  # fmt: skip
"""What a text may hold, with every sign that Markdown, HTML or a table gives a meaning to."""

OPENERS = (
    "- item",
    "+ item",
    "1. item",
    "--- x",
    '=== "tab"',
    "!!! note",
    "??? note",
    ": x",
    "# head",
    "> q",
    "~~~",
)
"""What would start something else than a paragraph."""

TEXTS = [
    "title",
    "summary",
    "text",
    "note",
    "advice",
    "fact",
    "myth",
    "call",
    "code",
    "where",
    "mechanism",
    "statement",
]
"""Keys of records whose values are free text."""

MORE = {
    "pull_requests/frame/1.yaml": {
        "repository": "frame/frame",
        "number": "1",
        "title": "Order the additions",
        "status": "merged",
        "url": "https://example.com/1",
        "notes": ["a note"],
        "corrections": ["a correction"],
        "evidence": [],
    },
    "issues/frame/2.yaml": {
        "repository": "frame/frame",
        "number": "2",
        "title": "Runs differ",
        "status": "open",
        "url": "https://example.com/2",
        "notes": ["a note"],
        "evidence": [],
    },
    "myths/seeds.yaml": {"myth": "Seeds are enough.", "fact": "They are not.", "evidence": []},
    "helpers/frame/all.yaml": {
        "title": "Everything",
        "call": "frame.all()",
        "summary": "Sets all.",
        "sets": [{"set": "FRAME_ORDERED", "to": ["1"]}],
        "evidence": [],
    },
}
"""Records of the kinds that the small knowledge base lacks."""


def _nasty(value: Any, inside: str = "") -> Any:
    """A record with the nasty text in every free text."""
    if isinstance(value, dict):
        return {key: _nasty(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [
            _nasty(item, "text" if inside in ("notes", "corrections") else "") for item in value
        ]
    return f"{value} {NASTY}" if inside in TEXTS else value


@functools.cache
def nasty_records() -> Path:
    """A copy of the small knowledge base full of nasty text."""
    folder = Path(tempfile.mkdtemp(prefix="d9m-nasty-")) / "kb"
    shutil.copytree(SMALL, folder)
    for path, record in MORE.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(record), encoding="utf-8")
    for path in folder.rglob("*.yaml"):
        record = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CBaseLoader)
        nasty = record if path.parent == folder and path.stem != "facts" else _nasty(record)
        path.write_text(json.dumps(nasty), encoding="utf-8")
    return folder


@functools.cache
def nasty_site() -> dict[str, Html]:
    out = Path(tempfile.mkdtemp(prefix="d9m-nasty-site-"))
    build(nasty_records(), out)
    pages = {path.relative_to(out).as_posix(): Html(path) for path in out.rglob("*.html")}
    pages["search"] = _searched(out)
    return pages


def _searched(out: Path) -> Html:
    """What the search box shows: it prints titles and texts of its index as HTML."""
    index = json.loads((out / "search" / "search_index.json").read_text(encoding="utf-8"))
    shown = out / "search.html"
    shown.write_text(
        "".join(f"{each['title']}{each['text']}" for each in index["docs"]), encoding="utf-8"
    )
    return Html(shown)


def test_no_text_of_a_record_becomes_an_element() -> None:
    for page, parsed in nasty_site().items():
        assert not [script for script in parsed.scripts if "alert" in script], page
        for element in parsed.elements:
            assert "onerror" not in element.attributes, page
            assert "evil" not in element.attributes.get("class", "").split(), page
            assert element.attributes.get("id") != "evil", page
            for address in (element.attributes.get("href", ""), element.attributes.get("src", "")):
                assert not address.startswith(("javascript:", "https://evil")), page


PROMINENT = (
    "sources/frame/add",
    "solutions/frame/env",
    "settings/frame/tune",
    "ingredients/seeds",
    "errors/frame/scan",
    "pull-requests/frame/1",
    "issues/frame/2",
    "helpers/frame/all",
    "versions/frame",
    "myths",
    "documents",
    "facts",
    "sources",
    "solutions",
    "settings",
    "ingredients",
    "errors",
    "pull-requests",
    "issues",
    "helpers",
    "versions",
)


@pytest.mark.parametrize("page", PROMINENT)
def test_the_text_shows_literally(page: str) -> None:
    shown = nasty_site()[f"{page}/index.html"].text
    start = NASTY[:100] if page == "errors" else NASTY
    assert start in shown


def test_titles_show_literally_in_the_window_and_in_the_search_box() -> None:
    pages = nasty_site()
    assert NASTY in pages["search"].text
    head = pages["sources/frame/add/index.html"]
    assert head.text.count(NASTY) >= 3  # the window's title, the heading, the summary


def test_no_text_adds_a_cell_to_a_table() -> None:
    for path, text in generated(locate.from_yaml(nasty_records())).items():
        assert not uneven_rows(text), path


@pytest.mark.parametrize("text", OPENERS)
def test_a_text_that_looks_like_markup_stays_a_paragraph(text: str) -> None:
    generator()
    import markdown

    from pages.markdown import escape

    extensions = [
        "admonition",
        "attr_list",
        "tables",
        "pymdownx.details",
        "pymdownx.superfences",
        "pymdownx.tabbed",
    ]
    shown = html.unescape(
        markdown.markdown(f"{escape(text)}\n\n- {escape(text)}\n", extensions=extensions)
    )
    assert f"<p>{text}</p>" in shown
    assert f"<li>{text}</li>" in shown


def test_spaces_around_code_in_a_text_stay() -> None:
    generator()
    from pages import markdown

    assert markdown.told("name NCCL, `--with nccl` , too") == "name NCCL, `--with nccl` , too"
    assert markdown.told("`a` `b`") == "`a` `b`"


def test_no_page_runs_code_and_words_together() -> None:
    joined = re.compile(r"[A-Za-z,;:]<code>(?!s\b)|</code>[A-Za-z]{2,}")
    faults: list[str] = []
    for path in built().rglob("index.html"):
        article = path.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")
        text = re.sub(r"<(pre|script)\b.*?</\1>", "", article[0], flags=re.DOTALL)
        if joined.search(text):
            faults.append(f"{path.parent}: {joined.findall(text)[:3]}")
    assert not faults, (len(faults), faults[:20])
