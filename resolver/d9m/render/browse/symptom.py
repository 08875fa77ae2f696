"""A symptom for a person at a terminal: its diagnosis and its advice, which is Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from d9m.render.page import Page, Span

TITLES = {"pytorch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX", "other": "Any framework"}

_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)]+)\)")


def write(page: Page, record: Mapping[str, object], families: Collection[str] = ()) -> None:
    """The diagnosis, and the advice for some frameworks; for all of them where none is named."""
    page.paragraph(" ".join(str(record["diagnosis"]).split()), style="head")
    advice = record["advice"]
    assert isinstance(advice, dict)
    shown = [name for name in TITLES if name in advice and (name in families or name == "other")]
    shown = shown if families and shown else [name for name in TITLES if name in advice]
    for name in shown:
        if shown != ["other"]:
            page.line(Span(f"{TITLES[name]}:", "head"))
        write_markdown(page, advice[name])
    page.gap()


def write_markdown(page: Page, text: str) -> None:
    """Paragraphs, items and code of a Markdown text."""
    is_code = False
    for block in _blocks(text):
        if block.startswith("```"):
            is_code = not is_code
        elif is_code:
            page.line(f"    {block}")
        else:
            plain = _LINK.sub(r"\1 (\2)", block).replace("`", "").replace("**", "")
            item = plain.removeprefix("- ")
            page.paragraph(item, "  • " if item != plain else "  ", "    " if item != plain else "  ")


def _blocks(text: str) -> list[str]:
    """Each paragraph and item on a line; the lines of code as they are."""
    blocks: list[str] = []
    is_code, is_new = False, True
    for line in text.splitlines():
        said = line.strip()
        if said.startswith("```"):
            is_code = not is_code
            blocks.append("```")
            is_new = True
        elif is_code:
            blocks.append(line)
        elif not said or is_new or said.startswith("- "):
            blocks += [said] if said else []
            is_new = not said
        else:
            blocks[-1] += f" {said}"
    return blocks
