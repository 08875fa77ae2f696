"""Our own prose and names use the field's terms, and no words that only we would use.

The prose of records is left for later, as are quotations of other people, in `facts` and `seeds`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer

from d9m.authoring import cases
from d9m.cli import application
from d9m.model.advice import Advice
from d9m.render.advice import verdict
from d9m.render.interface import Answer
from golden import CASES, knowledge_base

ROOT = Path(__file__).parents[1]
RESOLVER = ROOT / "resolver" / "d9m"

BANNED = re.compile(
    r"""\b(?:
      somebody | nobody | whoever | anybody | knobs? | worded | dice
    | (?:by|of)\ itself | of\ (?:its|their)\ own | as\ it\ is(?=[.,;:])
    | stands?(?!(?:\ in)?\ for\b|-)
    | ways?\ out | can\ differ | other\ bits | come\ here\ too | makes\ the\ rounding
    )(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words and phrases that no text of ours holds."""

BANNED_FOR_READERS = re.compile(
    r"\b(?:repeats?(?! for| the| it)|repeatably|cure|heirs?|asked-about|the same bits)\b"
    r"|(?:^|[.:] |• )It |no known (?:source|difference)s? of|for good",
    re.IGNORECASE,
)
"""What code may say, and an output, a template and the help may not."""

BANNED_IN_NAMES = re.compile(
    r"_(?:somebody|nobody|whoever|stands?|worded|knobs?|repeats?|can_differ|way_out|of_its_own)(?:_|$)"
)
"""Words that no name of a test holds."""


def found_in(texts: Iterator[str], *patterns: re.Pattern[str]) -> list[str]:
    """Return what the patterns find, with the words around it."""
    found: list[str] = []
    for text in texts:
        flat = " ".join(text.split())
        for pattern in patterns:
            for match in pattern.finditer(flat):
                found.append(flat[max(0, match.start() - 40) : match.end() + 20])
    return found


def prose(source: str) -> Iterator[str]:
    """Yield the docstrings and comments of a module."""
    for node in ast.walk(ast.parse(source)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


MODULES = {str(path.relative_to(RESOLVER)): path for path in sorted(RESOLVER.rglob("*.py"))}


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_and_comments_use_plain_words(module: str) -> None:
    texts = list(prose(MODULES[module].read_text(encoding="utf-8")))
    assert found_in(iter(texts), BANNED) == []
    assert [text for text in texts if text.startswith(("What ", "Who "))] == []


TEMPLATES = sorted((ROOT / "site" / "templates").glob("*.md"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_of_the_site_use_the_terms_of_the_field(template: Path) -> None:
    text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", " ", template.read_text(encoding="utf-8"))
    assert found_in(iter(text.splitlines()), BANNED, BANNED_FOR_READERS) == []


EXPECTED = sorted((ROOT / "tests" / "render" / "expected").glob("*.txt"))


@pytest.mark.parametrize("output", EXPECTED, ids=lambda path: path.stem)
def test_reviewed_outputs_use_the_terms_of_the_field(output: Path) -> None:
    lines = output.read_text(encoding="utf-8").splitlines()
    assert found_in(iter(lines), BANNED, BANNED_FOR_READERS) == []


def test_verdicts_of_golden_cases_use_the_terms_of_the_field() -> None:
    kb = knowledge_base()
    asked = [case for case in cases.load(CASES)[::5] if "repeat" not in str(case.ask.ops)]
    replies = (cases.reply(kb, case) for case in asked)
    says = (verdict.sentences(Answer(each, kb)) for each in replies if isinstance(each, Advice))
    assert found_in(says, BANNED, BANNED_FOR_READERS) == []


def helps() -> Iterator[tuple[str, str]]:
    """Yield each command, and its help with that of its options."""
    group: Any = typer.main.get_command(application.application([]))
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        options = [getattr(each, "help", None) or "" for each in command.params]
        yield name, " ".join([command.help or "", *options])


def test_help_uses_the_terms_of_the_field() -> None:
    texts = dict(helps())
    assert {"advise", "show", "list"} <= texts.keys()
    assert found_in(iter(texts.values()), BANNED, BANNED_FOR_READERS) == []


def test_names_of_tests_say_behaviour_in_plain_words() -> None:
    found: list[str] = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        names = re.findall(r"^ *def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        found += [f"{path.name}: {name}" for name in names if BANNED_IN_NAMES.search(name)]
    assert found == []


def test_a_banned_word_is_found() -> None:
    assert found_in(iter(["Runs can\n differ.", "stands for, stands in for"]), BANNED) == [
        "Runs can differ."
    ]
    assert found_in(iter(["What stands there"]), BANNED)
    assert found_in(iter(["• It fills tensors"]), BANNED_FOR_READERS)
    assert not found_in(iter(["deterministic with the settings below"]), BANNED, BANNED_FOR_READERS)
