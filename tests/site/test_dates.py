"""Days: of evidence, as its place gives them, and of the last change of a record."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from site_build import generator, real

from d9m.model.records import Evidence


@pytest.mark.parametrize(
    ("place", "day"),
    [
        ({"wheel": "torch-1.13.1"}, "2022-12-15"),
        ({"wheel": "torch-2.15.0-macos"}, "2026-10-28"),
        ({"url": "https://github.com/pytorch/pytorch/blob/v1.13.1/setup.py"}, "2022-12-15"),
        ({"url": "https://pytorch.org/docs/1.7.0/notes/randomness.html"}, "2020-10-27"),
        ({"url": "https://github.com/pytorch/pytorch/pull/140887"}, "2024-11-16"),
        ({"url": "https://github.com/pytorch/pytorch/pull/140887/files"}, "2024-11-16"),
        ({"url": "https://github.com/pytorch/pytorch/issues/75240#issuecomment-1"}, "2022-04-05"),
        ({"document": "tensorflow-release-notes", "where": "2.7.0"}, "2021-11-04"),
        ({"document": "jax-changelog", "where": "0.5.0, 17 January 2025"}, "2025-01-17"),
        ({"url": "https://pypi.org/project/torch/1.13.1/"}, "2022-12-15"),
        (
            {"url": "https://github.com/NVIDIA/Megatron-LM/blob/core_v0.10.0/megatron/x.py"},
            "2025-02-17",
        ),
        ({"url": "https://github.com/NVIDIA/TransformerEngine/blob/v2.1/README.rst"}, "2025-03-13"),
        ({"url": "https://github.com/pytorch/pytorch/blob/1234abcd/setup.py"}, ""),
        ({"url": "https://example.org/docs/1.7.0/page"}, ""),
        ({"url": "https://github.com/pytorch/pytorch/blob/v99.0/setup.py"}, ""),
    ],
)
def test_the_day_of_a_statement_is_that_of_its_place(place: dict[str, str], day: str) -> None:
    generator()
    from d9m.resolve.answers import cite
    from pages import dates

    evidence = Evidence(kind="documented", **place)
    assert dates.of_evidence(real(), evidence, cite(real(), evidence).url) == day


def test_a_page_without_a_date_says_when_it_was_read() -> None:
    generator()
    from pages import dates

    undated = next(
        id_ for id_, each in real().documents.items() if each.kind == "page" and each.read
    )
    evidence = Evidence(kind="documented", document=undated)
    assert dates.of_evidence(real(), evidence, "https://example.org").startswith("read 20")


def test_release_notes_date_from_the_release_that_they_name_not_from_the_file() -> None:
    """JAX keeps all notes in one file, which was read long after 0.5.0 came out."""
    generator()
    from pages import proof

    notes = Evidence(kind="release-note", document="jax-changelog", where="0.5.0")
    (row,) = proof.of(real(), [notes])
    assert row.date == "published <time>2025-01-17</time>"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://example.org/page", "no date: the page has none"),
        ("https://github.com/a/b/blob/1234abcd/setup.py", "no date: the address names a commit"),
        ("https://example.org/docs/v2.1/page", "no date: the address names a release"),
    ],
)
def test_a_row_of_evidence_without_a_date_says_why(url: str, why: str) -> None:
    generator()
    from pages import proof

    (row,) = proof.of(real(), [Evidence(kind="documented", url=url)])
    assert row.date == why


def test_a_row_of_evidence_tells_published_read_and_measured_apart() -> None:
    generator()
    from pages import markdown, proof

    measured = Evidence(kind="measured", url="https://example.org/page", date="2026-01")
    (row,) = proof.of(real(), [measured])
    assert row.date == "measured <time>2026-01</time>"
    assert markdown.dated("read 2026-02-01", "published") == "read <time>2026-02-01</time>"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with two records, of which one was changed on a later day."""
    generator()
    import changed

    root = tmp_path / "checkout"
    (root / "kb" / "sources").mkdir(parents=True)
    monkeypatch.setenv("D9M_KB", str(root / "kb"))
    for number, (name, day) in enumerate(
        [("old", "2026-01-02"), ("new", "2026-01-02"), ("new", "2026-03-04")]
    ):
        (root / "kb" / "sources" / f"{name}.yaml").write_text(f"title: {number}\n", "utf-8")
        _git(root, "init", "--quiet")
        _git(root, "add", ".")
        _git(root, "commit", "--quiet", "--message", name, day=day)
    changed.of_folder.cache_clear()
    yield root
    changed.of_folder.cache_clear()


def _git(root: Path, *words: str, day: str = "2026-01-01") -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    noon = f"{day}T12:00:00Z"
    days = {"GIT_AUTHOR_DATE": noon, "GIT_COMMITTER_DATE": noon, "HOME": str(root)}
    subprocess.run(["git", "-C", str(root), *author, *words], check=True, env=days)


def test_the_history_says_when_a_record_was_last_changed(checkout: Path) -> None:
    import changed

    assert changed.days() == {"sources/old.yaml": "2026-01-02", "sources/new.yaml": "2026-03-04"}
    assert changed.newest("sources") == "2026-03-04"
    assert changed.newest("errors") == ""


def test_a_shallow_clone_and_an_export_say_nothing(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import changed

    shallow = tmp_path / "shallow"
    _git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{checkout}", str(shallow))
    (tmp_path / "export" / "kb").mkdir(parents=True)
    for folder in (shallow, tmp_path / "export"):
        monkeypatch.setenv("D9M_KB", str(folder / "kb"))
        changed.of_folder.cache_clear()
        assert changed.days() == {}
        assert changed.newest("sources") == ""
