"""The generator: pure, and a page for everything that the knowledge base holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from site_build import (
    KB,
    ROOT,
    SITE,
    generated,
    generator,
    need_mkdocs,
    real,
    real_pages,
    uneven_rows,
    variables,
)

from d9m.authoring.lint import RULES
from d9m.kb import locate
from d9m.model.when import Range
from d9m.scan.rules import catalogue as scan_rules

SMALL = ROOT / "tests" / "render" / "kb"

PAGES_OF = {
    "sources": "sources",
    "solutions": "solutions",
    "settings": "settings",
    "ingredients": "ingredients",
    "helpers": "helpers",
    "errors": "errors",
    "symptoms": "symptoms",
    "pull_requests": "pull-requests",
    "issues": "issues",
    "versions": "versions",
    "evidence/runs": "runs",
}
"""Folder of records -> folder of their pages."""


@pytest.mark.parametrize("kind", PAGES_OF)
def test_every_record_has_one_page_under_its_own_id(kind: str) -> None:
    found = {
        path.removeprefix(f"{PAGES_OF[kind]}/").removesuffix(".md")
        for path in real_pages()
        if path.startswith(f"{PAGES_OF[kind]}/") and path != f"{PAGES_OF[kind]}/index.md"
    }
    files = (each for each in (KB / kind).rglob("*") if each.is_file())
    assert found == {path.relative_to(KB / kind).as_posix().rpartition(".")[0] for path in files}


@pytest.mark.parametrize(
    ("kind", "page"),
    [("documents", "documents.md"), ("myths", "myths.md"), ("corrections", "corrections.md")],
)
def test_every_listed_record_has_one_anchor(kind: str, page: str) -> None:
    anchors = re.findall(r'(?:<a id="|\{: #)([a-z0-9-]+)', real_pages()[page])
    ids = [
        path.relative_to(KB / kind).with_suffix("").as_posix()
        for path in (KB / kind).rglob("*.yaml")
    ]
    assert sorted(anchors) == sorted(re.sub("[^a-z0-9]+", "-", each.lower()) for each in ids)


def test_there_is_no_page_without_a_record_a_rule_or_a_list() -> None:
    kb = real()
    records = sum(kb.meta.counts[kind.removeprefix("evidence/")] for kind in PAGES_OF)
    lists = {
        "index.md",
        "documents.md",
        "myths.md",
        "corrections.md",
        "code.md",
        "facts.md",
        "lint/index.md",
        "scan/index.md",
        "ops/index.md",
        "status/index.md",
        "containers/index.md",
        "compare.md",
        "contributing.md",
        "history.md",
        "reference/commands.md",
        "reference/data.md",
        "reference/evaluation.md",
        "reference/json.md",
        "reference/records.md",
        "upgrade/index.md",
        *(f"{folder}/index.md" for folder in PAGES_OF.values()),
    }
    assert lists <= real_pages().keys()
    from pages import grid

    told = [package for package in kb.meta.prefixes if grid.grids(kb, package)]
    lines = sum(len(grid.lines(kb, package)) for package in told)
    images = sum(len(kb.releases(name)) for name in kb.packages if kb.packages[name].image)
    rules = len(RULES) + len(scan_rules.RULES)
    several = [package for package in told if len(grid.lines(kb, package)) > 1]
    upgrades = sum(grid.grids(kb, package)[0].device == "cuda" for package in several)
    others = rules + len(kb.meta.prefixes) + len(told) + lines + upgrades + images + len(lists)
    assert len(real_pages()) == records + others


def test_every_rule_tells_why() -> None:
    pages = real_pages()
    for rule in RULES:
        assert rule.title in pages[f"lint/{rule.code}.md"].replace("\\", "")
    for rule in scan_rules.RULES:
        assert rule.good.strip() in pages[f"scan/{rule.code}.md"]
        assert f"`{rule.code}`]({rule.code}.md)" in pages["scan/index.md"]


def test_every_op_of_the_catalogue_is_on_its_page_once() -> None:
    kb = real()
    pages = real_pages()
    for package in kb.meta.prefixes:
        anchors = re.findall(r'<(?:a|span) id="([^"]*)"', pages[f"ops/{package}.md"])
        own = [key for key in kb.ops if key.startswith(f"{package}:")]
        assert len(anchors) == len(own)
        assert len(set(anchors)) == len(anchors)


@pytest.mark.nightly
def test_the_same_records_give_the_same_pages_in_any_process(tmp_path: Path) -> None:
    need_mkdocs()
    command = [sys.executable, str(SITE / "write.py"), str(tmp_path)]
    other_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    subprocess.run(command, env=variables(KB, PYTHONHASHSEED=other_seed), check=True, timeout=300)
    written = {
        path.relative_to(tmp_path).as_posix(): path.read_text("utf-8")
        for path in tmp_path.rglob("*.md")
    }
    assert written == real_pages()


@pytest.mark.parametrize("folder", [SMALL, pytest.param(KB, marks=pytest.mark.nightly)])
def test_generating_twice_from_one_knowledge_base_changes_nothing(folder: Path) -> None:
    kb = locate.from_yaml(folder)
    assert generated(kb) == generated(kb)


def test_the_writer_wants_a_folder(tmp_path: Path) -> None:
    need_mkdocs()
    done = subprocess.run(
        [sys.executable, str(SITE / "write.py")],
        env=variables(KB),
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"usage:" in done.stderr
    assert not list(tmp_path.iterdir())


def test_every_row_of_a_table_has_the_columns_of_its_head() -> None:
    for path, text in real_pages().items():
        assert not uneven_rows(text), path


def test_records_are_edited_where_the_project_says() -> None:
    generator()
    from d9m.about import REPOSITORY

    assert f'Source = "{REPOSITORY}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_a_source_page_answers_first_and_shows_who_disagrees() -> None:
    kb = real()
    pages = real_pages()
    disputed = [
        id_ for id_ in kb.sources if any(not each.follows for each in kb.sources[id_].evidence)
    ]
    assert disputed
    for id_ in disputed:
        page = pages[f"sources/{id_}.md"]
        assert "**not followed**" in page
        assert page.index("\n!!! ") < page.index("## By version") < page.index("## Evidence")


_CHANGES = re.compile(r"(?m)^\| Op \| \S+ \| \S+ \|\n\|---\|---\|---\|\n((?:\|.*\n)+)")


def test_a_change_says_what_changed_and_names_settings_only_where_they_help() -> None:
    """An op that can differ before and after did not change, whatever helps one of its sources."""
    pages = real_pages()
    tables = [
        (path, found.group(1))
        for path in pages
        if path.startswith(("releases/", "containers/"))
        for found in _CHANGES.finditer(pages[path])
    ]
    assert len(tables) > 100
    for path, rows in tables:
        for row in rows.splitlines():
            _op, before, after = row.strip("| ").split(" | ")
            assert before.strip() != after.strip(), (path, row)
            for side in (before, after):
                if "d9m-unsolved" in side or "d9m-unknown" in side:
                    assert side.rstrip().endswith("</span>"), (path, row)
    since = pages["releases/torch/2.6.md"].split("## What to set")[0]
    assert "torch.cumsum" in since
    assert "torch.cumprod" not in since


def test_releases_read_as_people_say_them() -> None:
    generator()
    from pages.phrases import span

    released = ("1.13.0", "1.13.1", "1.14.0", "2.0.0", "2.0.1", "2.1.0")
    assert span(Range(), released) == "all releases"
    assert span(Range(from_="1.14"), released) == "1.14 and later"
    assert span(Range(until="1.14"), released) == "up to 1.13"
    assert span(Range(from_="1.14", until="2.1"), released) == "1.14 – 2.0"
    assert span(Range(from_="1.13.1", until="2.0.1"), released) == "1.13.1 – 2.0.0"
    assert span(Range(from_="2.0", until="2.0.1"), released) == "2.0.0"
    assert span(Range(from_="1.14", until="2.0"), released) == "1.14"
    assert span(Range(from_="20.10", until="20.11"), ("20.09", "20.10", "20.11")) == "20.10"


def test_every_source_tells_what_happens_by_version() -> None:
    """Whether or not the releases of its package are listed, and whatever must not be there."""
    pages = {
        path: text
        for path, text in real_pages().items()
        if re.fullmatch(r"sources/.+/.+\.md", path)
    }
    without = [path for path, text in pages.items() if "## By version\n\n" not in text]
    empty = [path for path, text in pages.items() if re.search(r"## By version\s+#", text)]
    assert (len(pages) > 200, without, empty) == (True, [], [])


def test_releases_that_are_not_listed_are_named_by_their_bounds() -> None:
    page = real_pages()["sources/numpy/instruction-set.md"]
    assert [
        row.split("|")[1].strip() for row in page.splitlines() if "d9m-nondeterministic" in row
    ] == [
        "1.25 and later",
        "1.20 to before 1.25",
        "1.19 to before 1.20",
    ]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("tensorflow/conv-backprop-filter", "Nondeterministic by default"),
        ("llama-cpp/batch-size", "Not batch-invariant"),
        ("numpy/instruction-set", "Differs across hardware"),
    ],
)
def test_an_answer_says_what_the_bits_change_with(source: str, says: str) -> None:
    assert says in real_pages()[f"sources/{source}.md"]


def test_the_first_page_tells_of_the_last_measured_run() -> None:
    kb = real()
    last = max(run.date for run in kb.runs.values())
    (line,) = (
        line
        for line in real_pages()["index.md"].splitlines()
        if line.startswith("Last measured on ")
    )
    assert last in line
    assert "](runs/" in line


def test_a_long_list_of_sources_is_in_parts_the_worst_first() -> None:
    """A phone lays out only the part in view: PyTorch's table in one piece has 1500 elements."""
    page = real_pages()["sources/index.md"]
    of_torch = page.split("{: #torch }")[1].split("\n## ")[0]
    assert re.findall(r"### (.*) \{: #(.*) \}", of_torch) == [
        ("Nondeterministic", "torch-unsolved"),
        ("Raises an error", "torch-raises"),
        ("Not verified", "torch-unknown"),
        ("Deterministic with settings", "torch-solved"),
        ("Deterministic", "torch-deterministic"),
    ]
    assert "### " not in page.split("{: #cupy }")[1].split("\n## ")[0]
    for id_ in real().sources:
        folder, _, name = id_.rpartition("/")
        assert page.count(f"]({folder}/{name}.md) ") == 1, id_


def test_a_part_of_the_list_of_sources_has_no_column_that_says_nothing() -> None:
    page = real_pages()["sources/index.md"]
    parts = re.split(r"\n###? ", page)[1:]
    tables = [part for part in parts if "| Source |" in part]
    assert len(tables) > 30
    for part in tables:
        head, _line, *rows = [line for line in part.splitlines() if line.startswith("|")]
        columns = list(zip(*(re.split(r"(?<!\\)\|", row)[1:-1] for row in rows)))
        names = [name.strip() for name in head.split("|")[1:-1]]
        assert len(columns) == len(names)
        for name, cells in zip(names, columns):
            assert any(cell.strip() for cell in cells), f"{name} in {part[:60]}"
        has_outcome = re.search(r"-(unsolved|raises|unknown|solved|deterministic) \}", part)
        assert ("With settings" in names) == (has_outcome is None)


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (
            "pytorch/cublas-config",
            "Deterministic behavior was enabled with either … or …, but this operation is not "
            "deterministic because it uses CuBLAS and …",
        ),
        ("pytorch/not-deterministic", "… does not have a deterministic implementation"),
        ("torchtune/seed-range", "Invalid seed value provided: …"),
    ],
)
def test_a_title_has_an_ellipsis_for_what_the_program_fills_in(error: str, title: str) -> None:
    page = real_pages()[f"errors/{error}.md"]
    assert page.startswith(f'---\ntitle: "{title}"\n')
    assert "The program fills in the parts in braces." in page
