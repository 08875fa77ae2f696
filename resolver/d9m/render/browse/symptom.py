"""The advice of a symptom, which is Markdown, for a person at a terminal."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from d9m.model.records import AdviceFor
from d9m.render.page import Page, Span

TITLES: dict[AdviceFor, str] = {
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "other": "Any framework",
}

_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)]+)\)")


def write_advice(
    page: Page, advice: Mapping[AdviceFor, str], families: Collection[AdviceFor] = ()
) -> None:
    """The advice for some frameworks; for all of them where none is named."""
    shown: list[AdviceFor] = [
        name for name in TITLES if name in advice and name in (*families, "other")
    ]
    if not families or not shown:
        shown = [name for name in TITLES if name in advice]
    for name in shown:
        if shown != ["other"]:
            page.line(Span(f"{TITLES[name]}:", "head"))
        _write_markdown(page, advice[name])
    page.gap()


def _write_markdown(page: Page, text: str) -> None:
    """Paragraphs, items and code of a Markdown text."""
    is_code = False
    for block in _blocks(text):
        if block.startswith("```"):
            is_code = not is_code
        elif is_code:
            page.line(f"      {block}")
        else:
            plain = _LINK.sub(r"\1 (\2)", block).replace("`", "").replace("**", "")
            item = plain.removeprefix("- ")
            first, rest = ("  ", "  ") if item == plain else ("  • ", "    ")
            page.paragraph(item, first, rest)


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
