"""The fields of one record, in words: what is to copy keeps its lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Clause
from d9m.render import phrases
from d9m.render.page import Page, Span

Field: TypeAlias = Callable[[Page, KnowledgeBase, Any], None]

ELSEWHERE = {"evidence", "timeline", "title", "summary", "releases", "label", "name"}
"""Fields with a place of their own on the page."""


def write(page: Page, kb: KnowledgeBase, record: Mapping[str, Any]) -> None:
    """Every field that a reader needs, under a heading of its own."""
    for name, value in record.items():
        if name in ELSEWHERE or value in ([], {}, "", None):
            continue
        special = _FIELDS.get(name)
        if special is not None:
            special(page, kb, value)
        else:
            page.paragraph(f"{name.replace('_', ' ')}: {_flat(value)}", "", "  ")


def _when(page: Page, kb: KnowledgeBase, value: Any) -> None:
    page.paragraph(f"Applies {_condition(kb, value)}.", "", "  ")


def _condition(kb: KnowledgeBase, value: Any) -> str:
    clauses = msgspec.convert(value if isinstance(value, list) else [value], list[Clause])
    return phrases.conditions(kb, clauses)


def _statements(title: str) -> Field:
    """Cautions, notes, work-arounds, costs: a text each, and where it holds."""

    def write_statements(page: Page, kb: KnowledgeBase, value: list[Any]) -> None:
        page.gap()
        page.line(Span(title, "head"))
        for statement in value:
            if isinstance(statement, str):
                page.paragraph(statement, "  • ", "    ")
                continue
            where = _condition(kb, statement["when"]) if statement.get("when") else ""
            factor = f" (time × {statement['factor']})" if statement.get("factor") else ""
            page.paragraph(
                f"{where[:1].upper()}{where[1:]}: {statement['text']}{factor}"
                if where
                else f"{statement['text']}{factor}",
                "  • ",
                "    ",
            )

    return write_statements


def _turns(title: str) -> Field:
    """Settings that are made: a line each."""

    def write_turns(page: Page, kb: KnowledgeBase, value: list[dict[str, Any]]) -> None:
        page.gap()
        page.line(Span(title, "head"))
        for turn in value:
            where = f", {_condition(kb, turn['when'])}" if turn.get("when") else ""
            note = f" ({turn['note']})" if turn.get("note") else ""
            page.paragraph(f"{_turned(kb, turn)}{where}{note}", "  ", "    ")

    return write_turns


def _turned(kb: KnowledgeBase, turn: dict[str, Any]) -> str:
    """``NAME=value``, or the statement that a program holds."""
    if "unset" in turn:
        return f"unset {turn['unset']}"
    name, values = turn["set"], turn.get("to", [])
    statement = kb.setting(name).statement
    if statement and len(values) == 1:
        return statement.replace("{value}", values[0])
    return f"{name}={' or '.join(values)}" if values else name


def _examples(page: Page, kb: KnowledgeBase, value: list[dict[str, Any]]) -> None:
    for example in value:
        page.gap()
        where = _condition(kb, example["when"]) if example.get("when") else ""
        page.paragraph(f"{example.get('note') or 'Example'} {where}".strip() + ":")
        for line in example["code"].splitlines():
            page.line(f"  {line}")


def _texts(page: Page, kb: KnowledgeBase, value: list[dict[str, Any]]) -> None:
    """The wordings of a message."""
    page.gap()
    page.line(Span("Wordings", "head"))
    for text in value:
        where = f" ({_condition(kb, text['when'])})" if text.get("when") else ""
        page.paragraph(f'"{text["text"]}"{where}', "  ", "    ")


def _ops(page: Page, kb: KnowledgeBase, value: list[str]) -> None:
    page.paragraph(f"Ops: {', '.join(value)}", "", "  ")


_FIELDS: dict[str, Field] = {
    "when": _when,
    "ops": _ops,
    "cautions": _statements("Watch out"),
    "notes": _statements("Good to know"),
    "workarounds": _statements("Other ways"),
    "costs": _statements("What it costs"),
    "settings": _turns("Set"),
    "sets": _turns("What it sets by itself"),
    "examples": _examples,
    "texts": _texts,
}
"""Field -> how it is written, where name and value are not enough."""


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {_flat(part)}" for name, part in value.items())  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return ", ".join(_flat(part) for part in value)  # pyright: ignore[reportUnknownVariableType]
    return str(value)
