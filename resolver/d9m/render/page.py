"""Lines for a terminal: plain or styled, at its width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from d9m.errors import printable

WIDTH = 80
"""Columns by default: mails and logs show this many."""

NARROWEST, WIDEST = 60, 120
"""Columns of the narrowest page, and of the widest: longer lines are hard to read."""

_PLAIN_SIGNS = str.maketrans(
    {"✓": "+", "✗": "x", "→": ">", "•": "*", "·": "|", "…": "...", "×": "x", "–": "-", "’": "'"}
)
"""Sign -> its replacement where an encoding lacks it."""

LEAST_COLUMN = 12
"""Characters below which no column of a table gets."""

Style: TypeAlias = Literal["", "good", "bad", "doubt", "dim", "head"]

_RICH: dict[Style, str] = {
    "": "",
    "good": "bold green",
    "bad": "bold red",
    "doubt": "bold yellow",
    "dim": "dim",
    "head": "bold",
}


class Span(msgspec.Struct, frozen=True):
    text: str
    style: Style = ""


Line: TypeAlias = tuple[Span, ...]


class Page:
    """A text under construction, `width` columns wide."""

    def __init__(self, width: int = WIDTH) -> None:
        self.width = max(NARROWEST, min(width, WIDEST))
        self.lines: list[Line] = []

    def line(self, *parts: str | Span) -> None:
        """Add a line. Text may come from anywhere: what a terminal would obey is taken out
        here.
        """
        spans = (Span(part) if isinstance(part, str) else part for part in parts)
        self.lines.append(tuple(Span(printable(span.text), span.style) for span in spans))

    def marked(self, sign: Span, label: str, text: str) -> None:
        """A sign, a label, and text that wraps under itself."""
        indent = " " * (4 + len(label))
        width = self.width - len(indent)
        lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
        self.line("  ", sign, f" {label}{lines[0]}")
        for line in lines[1:]:
            self.line(indent + line)

    def gap(self) -> None:
        """One empty line, never two."""
        if self.lines and self.lines[-1]:
            self.lines.append(())

    def paragraph(
        self, text: str, first: str = "", rest: str | None = None, style: Style = ""
    ) -> None:
        """Wrapped text; `first` and `rest` indent the first and the further lines."""
        rest = " " * len(first) if rest is None else rest
        for line in textwrap.wrap(
            text,
            self.width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ):
            self.line(Span(line, style))

    def commented(
        self,
        code: str,
        comment: str | None,
        indent: str = "  ",
        column: int = 44,
        mark: str = "#",
    ) -> None:
        """A line to copy, with a comment behind it where there is room, else above it."""
        lines = code.splitlines() or [""]
        if comment is not None and len(lines) == 1:
            body = f"{indent}{lines[0]}"
            room = self.width - len(f"  {mark} {comment}")
            if len(body) <= room:
                self.line(f"{body.ljust(min(column, room))}  ", Span(f"{mark} {comment}", "dim"))
                return
        if comment is not None:
            self.paragraph(comment, f"{indent}{mark} ", f"{indent}{mark} ", "dim")
        for copied in lines:
            self.line(f"{indent}{copied}")

    def table(
        self, head: Sequence[str], rows: Iterable[Sequence[str | Span]], shrink: Sequence[int] = ()
    ) -> None:
        """Columns as wide as they need; the widest of `shrink` wrap where the page is too
        narrow.
        """
        cells = [list(map(_span, row)) for row in rows]
        widths = list(map(len, head))
        for row in cells:
            widths = [max(width, len(span.text)) for width, span in zip(widths, row)]
        spare = self.width - sum(widths) - 2 * (len(head) - 1)
        while spare < 0:
            wide = [at for at in shrink if widths[at] > LEAST_COLUMN]
            if not wide:
                break
            widths[max(wide, key=widths.__getitem__)] -= 1
            spare += 1
        self._row([Span(title, "head") for title in head], widths)
        for row in cells:
            self._row(row, widths)

    def _row(self, row: Sequence[Span], widths: Sequence[int]) -> None:
        wrapped = [_wrapped(span.text, width) for span, width in zip(row, widths)]
        for number in range(max(map(len, wrapped))):
            spans: list[Span] = []
            for span, lines, width in zip(row, wrapped, widths):
                text = lines[number] if number < len(lines) else ""
                spans += [Span(text, span.style), Span(" " * (width - len(text) + 2))]
            while spans and not spans[-1].text.strip():
                spans.pop()
            self.line(*spans)

    def plain(self) -> str:
        texts = ("".join(span.text for span in line).rstrip() for line in self.lines)
        return "".join(f"{text}\n" for text in texts)

    def coloured(self) -> str:
        """The same text with terminal colours."""
        from rich.console import Console
        from rich.text import Text

        console = Console(
            force_terminal=True,
            color_system="standard",
            no_color=False,
            width=1000,
            highlight=False,
        )
        with console.capture() as capture:
            for line in self.lines:
                console.print(
                    Text.assemble(*((span.text, _RICH[span.style]) for span in line)),
                    soft_wrap=True,
                )
        return capture.get()


def in_ascii(text: str) -> str:
    """The text with plain signs for ours, for a terminal whose encoding has no others."""
    return text.translate(_PLAIN_SIGNS)


def _span(cell: str | Span) -> Span:
    return cell if isinstance(cell, Span) else Span(cell)


def _wrapped(text: str, width: int) -> list[str]:
    """The lines of a cell. A name that is too long breaks after a dot, else after an underscore."""
    lines: list[str] = []
    for line in textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]:
        while len(line) > width:
            cut = line.rfind(".", 0, width) + 1 or line.rfind("_", 0, width) + 1 or width
            lines.append(line[:cut])
            line = line[cut:]
        lines.append(line)
    return lines
