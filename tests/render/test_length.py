"""An answer about three ops is short: 25 lines and the block to paste, with at most two notes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from d9m.authoring import cases
from d9m.model.advice import Advice
from d9m.render.advice.text import MOST_LINES, render
from d9m.render.advice.todo import TITLES
from d9m.render.interface import Answer
from d9m.render.page import Page
from golden import CASES, knowledge_base

MOST_OPS = 3
BY_DAY = 5
"""One of so many cases is tested by day, all at night."""
MOST_NOTES = 2


def answers() -> Iterator[tuple[str, list[str]]]:
    """Yield each golden case with at most three ops, and the lines of its answer."""
    kb = knowledge_base()
    for case in cases.load(CASES)[:: 1 if os.environ.get("D9M_TEST_NIGHTLY") else BY_DAY]:
        advice = cases.reply(kb, case) if case.ask.ops else None
        if isinstance(advice, Advice) and not advice.conflicts:
            ops = [op for op in advice.ops if op.query != "*"]
            page = render(Answer(advice, kb)).body
            if len(ops) <= MOST_OPS and isinstance(page, Page):
                yield case.name, page.plain().splitlines()


def without_block(lines: list[str]) -> list[str]:
    """Return lines without those to paste: a title, and what is indented below it."""
    kept: list[str] = []
    in_block = False
    for line in lines:
        in_block = line in TITLES.values() or (in_block and line[:1] in ("", " "))
        if not in_block:
            kept.append(line)
    return kept


def test_a_block_ends_with_the_first_line_that_is_not_indented() -> None:
    lines = ["a is deterministic.", "", "Command line", "  --ordered", "", "Notes", "  • b"]
    assert without_block(lines) == ["a is deterministic.", "", "Notes", "  • b"]


@pytest.fixture(scope="module")
def every_answer() -> list[tuple[str, list[str]]]:
    return list(answers())


def test_an_answer_about_three_ops_fits_25_lines(
    every_answer: list[tuple[str, list[str]]],
) -> None:
    assert len(every_answer) > 400
    long = {name: len(without_block(lines)) for name, lines in every_answer}
    assert {name: count for name, count in long.items() if count > MOST_LINES} == {}


def test_an_answer_has_at_most_two_notes_and_none_begins_with_it(
    every_answer: list[tuple[str, list[str]]],
) -> None:
    for name, lines in every_answer:
        start = lines.index("Notes") if "Notes" in lines else len(lines)
        notes = [line for line in lines[start:] if line.startswith("  • ")]
        assert len(notes) <= MOST_NOTES, name
        assert [note for note in notes if "• It " in note or ": It " in note] == [], name


def test_a_package_is_never_called_deterministic(
    every_answer: list[tuple[str, list[str]]],
) -> None:
    titles = tuple(f"{package.title} is " for package in knowledge_base().packages.values())
    assert [name for name, lines in every_answer if lines[0].startswith(titles)] == []
