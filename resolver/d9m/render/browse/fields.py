"""The fields of one record, in words: what is to copy keeps its lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.records import AdviceFor
from d9m.model.when import Clause
from d9m.render import phrases
from d9m.render.browse import symptom
from d9m.render.page import Page, Span

Field: TypeAlias = Callable[[Page, KnowledgeBase, Any], None]

ELSEWHERE = frozenset(
    [
        *("evidence", "timeline", "title", "summary", "releases", "label", "name"),
        *("order", "folder", "imports", "value_type", "list", "number"),
        *("packages", "by_settings", "phrases", "decides", "variable", "variable_forms"),
        *("tags", "holds", "before_import", "known_label"),
    ]
)
"""Fields with another place on the page, and those that only programs read."""


def write(page: Page, kb: KnowledgeBase, record: Mapping[str, Any]) -> None:
    """Every field that a reader needs, in the order of the record."""
    for name, value in record.items():
        if name in ELSEWHERE or value in ([], {}, "", None, False):
            continue
        special = _FIELDS.get(name)
        if special is not None:
            special(page, kb, value)
        else:
            label = name.replace("_", " ")
            page.paragraph(f"{label[:1].upper()}{label[1:]}: {_flat(value)}", "", "  ")


def _when(page: Page, kb: KnowledgeBase, value: Any) -> None:
    page.paragraph(f"Applies {_condition(kb, value)}.", "", "  ")


def _condition(kb: KnowledgeBase, value: Any) -> str:
    clauses = msgspec.convert(value if isinstance(value, list) else [value], list[Clause])
    return phrases.conditions(kb, clauses)


def _left_out(page: Page, kb: KnowledgeBase, value: Any) -> None:
    page.paragraph(
        f"Without the first argument, or None: the same {_condition(kb, value)}.", "", "  "
    )


def _warns(page: Page, kb: KnowledgeBase, value: Any) -> None:
    where = f" {_condition(kb, value)}" if value else ""
    page.paragraph(f"Only a warning for ops without a deterministic version{where}.", "", "  ")


def _sentence(template: str, last: str = "and") -> Field:
    """A value, or several, in a sentence."""

    def write_sentence(page: Page, kb: KnowledgeBase, value: Any) -> None:
        items = [value] if isinstance(value, str) else list(value)
        page.paragraph(template.format(phrases.join(items, last)), "", "  ")

    return write_sentence


def _word(sentences: Mapping[str, str]) -> Field:
    """A word of a closed list, as the sentence that it stands for."""

    def write_word(page: Page, kb: KnowledgeBase, value: str) -> None:
        if sentences.get(value):
            page.paragraph(sentences[value], "", "  ")

    return write_word


def _mechanism(page: Page, kb: KnowledgeBase, value: str) -> None:
    page.paragraph(f"Cause: {value.replace('-', ' ')}.", "", "  ")


def _if_true(text: str) -> Field:
    """Return a field that is one sentence if it is true."""

    def write_text(page: Page, kb: KnowledgeBase, value: bool) -> None:
        page.paragraph(text, "", "  ")

    return write_text


def _code(page: Page, kb: KnowledgeBase, value: str) -> None:
    """Lines to copy."""
    page.gap()
    for line in value.replace("{value}", "…").splitlines():
        page.line(f"  {line}")
    page.gap()


def _advice(page: Page, kb: KnowledgeBase, value: str | dict[AdviceFor, str]) -> None:
    page.gap()
    page.line(Span("What to do", "head"))
    if isinstance(value, dict):
        symptom.write_advice(page, value)
        return
    for part in value.splitlines():
        if part.strip():
            page.paragraph(part, "  ", "  ")
    page.gap()


def _statements(title: str) -> Field:
    """Cautions, notes, work-arounds, costs: a text each, and where it holds."""

    def write_statements(page: Page, kb: KnowledgeBase, value: list[Any]) -> None:
        page.gap()
        page.line(Span(title, "head"))
        for statement in value:
            page.paragraph(_statement(kb, statement), "  • ", "    ")
        page.gap()

    return write_statements


def _statement(kb: KnowledgeBase, statement: Any) -> str:
    if isinstance(statement, str):
        return statement
    where = _condition(kb, statement["when"]) if statement.get("when") else ""
    text = phrases.price(statement["text"], statement.get("factor"))
    return f"{where[:1].upper()}{where[1:]}: {text}" if where else text


def _setting_changes(title: str) -> Field:
    """Settings that are made: a line each."""

    def write_setting_changes(page: Page, kb: KnowledgeBase, value: list[dict[str, Any]]) -> None:
        page.gap()
        page.line(Span(title, "head"))
        for turn in value:
            where = f", {_condition(kb, turn['when'])}" if turn.get("when") else ""
            note = f" ({turn['note']})" if turn.get("note") else ""
            page.paragraph(f"{_written(kb, turn)}{where}{note}", "  ", "    ")
        page.gap()

    return write_setting_changes


def _written(kb: KnowledgeBase, turn: dict[str, Any]) -> str:
    """``NAME=value``, or the statement that a program holds."""
    if "unset" in turn:
        return f"unset {turn['unset']}"
    name, values = turn["set"], turn.get("to", [])
    statement = kb.settings[name].statement
    if statement and len(values) == 1:
        return statement.replace("{value}", values[0])
    return f"{name}={' or '.join(values)}" if values else name


def _examples(page: Page, kb: KnowledgeBase, value: list[dict[str, Any]]) -> None:
    """Code to copy, with what it is for above it."""
    for example in value:
        where = _condition(kb, example["when"]) if example.get("when") else ""
        page.gap()
        page.paragraph(f"{example.get('note') or where or 'Example'}:")
        for line in example["code"].splitlines():
            page.line(f"  {line}")
    page.gap()


def _texts(page: Page, kb: KnowledgeBase, value: list[dict[str, Any]]) -> None:
    """The wordings of a message."""
    page.gap()
    page.line(Span("Wordings", "head"))
    for text in value:
        where = f" ({_condition(kb, text['when'])})" if text.get("when") else ""
        page.paragraph(f'"{text["text"]}"{where}', "  ", "    ")
    page.gap()


def _reading(page: Page, kb: KnowledgeBase, value: list[dict[str, Any]]) -> None:
    """Other spellings of the values of a setting."""
    for rule in value:
        same = [f"{text or 'no value'} for {meant}" for text, meant in rule.get("same", {}).items()]
        case = ["in any case"] if rule.get("ignores_case") else []
        where = f" ({_condition(kb, rule['when'])})" if rule.get("when") else ""
        page.paragraph(f"Spelled {', '.join([*same, *case]) or 'as above only'}{where}.", "", "  ")


_FIELDS: dict[str, Field] = {
    "accepts": _sentence("Accepts {}.", "or"),
    "advice": _advice,
    "aliases": _sentence("Also called {}."),
    "call": _code,
    "cautions": _statements("Cautions"),
    "conda": _sentence("In conda: {}."),
    "costs": _statements("Cost"),
    "distributions": _sentence("On PyPI: {}."),
    "default": _sentence("Default: {}."),
    "diagnosis": _sentence("{}"),
    "effect": _word({"never": "Nothing reads it."}),
    "examples": _examples,
    "exception": _sentence("Raised as {}."),
    "form": _sentence("Other values have the form {}, once or several times."),
    "instead": _sentence("Use {} instead."),
    "kind": _word(
        {
            "env": "An environment variable.",
            "python": "A statement in Python.",
            "flag": "A command-line flag.",
            "config": "A key of the configuration.",
            "install": "A package to install.",
            "code": "An argument or a place in your code.",
        }
    ),
    "mechanism": _mechanism,
    "never_released": _sentence("Never released: {}."),
    "note": _sentence("{}"),
    "notes": _statements("Notes"),
    "ops": _sentence("Ops: {}"),
    "optional": _if_true("Not every program needs this."),
    "costly": _if_true("It slows a program down severalfold."),
    "left_out": _left_out,
    "overwrites": _sentence("Overwrites your values of {}."),
    "question": _sentence("{}"),
    "read": _word(
        {
            "process-start": "Read when the process starts: set it before.",
            "import": "Read at the import: set it before.",
            "first-use": "Read at its first use: a later change has no effect.",
            "per-call": "Applies to the calls that follow.",
            "build": "Applies when the engine or the library is built.",
            "install": "Applies from the installation on.",
        }
    ),
    "reading": _reading,
    "records": _sentence("Records: {}"),
    "references": _sentence("Threads: {}"),
    "refuses": _sentence("Results differ between runs with {}."),
    "scope": _word(
        {
            "batch": "About batch invariance.",
            "hardware": "About the same results across hardware.",
        }
    ),
    "separators": _sentence("Its words are divided by {}"),
    "sets": _setting_changes("Also sets"),
    "settings": _setting_changes("Set"),
    "sources": _sentence("Cause: d9m show {}"),
    "statement": _code,
    "stock": _sentence("A vendor's build of {}."),
    "texts": _texts,
    "url": _sentence("{}"),
    "computes_alone": _if_true("Runs its own models, without a framework."),
    "lists_every_release": _if_true("The list of releases is complete."),
    "is_server": _if_true("A server of trained models."),
    "warns": _warns,
    "when": _when,
    "workarounds": _statements("Workarounds"),
}
"""Field -> how it is written, where name and value are not enough."""


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {_flat(part)}" for name, part in value.items())  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return ", ".join(_flat(part) for part in value)  # pyright: ignore[reportUnknownVariableType]
    return str(value)
