"""Explain a rule of the scan: at a terminal, and as the page of the site."""

from __future__ import annotations

from d9m.render.page import WIDTH, Page, Span
from d9m.scan.card_line import LINES
from d9m.scan.marking import PAGES
from d9m.scan.rules.rule import ScanRule

FIXES = {
    "safe": "d9m scan --fix repairs it.",
    "unsafe": "d9m scan --fix --unsafe repairs it; read what it did.",
    "no": "",
}


def render(rule: ScanRule, width: int = WIDTH) -> Page:
    page = Page(width)
    page.line(Span(f"{rule.code}: {rule.title}", "head"))
    page.line(Span(f"{rule.severity} · family {rule.family}", "dim"))
    page.gap()
    page.paragraph(rule.why)
    for title, sample in (("Bad", rule.bad), ("Good", rule.good)):
        page.gap()
        page.line(Span(f"{title} ({rule.sample})", "head"))
        for line in sample.rstrip("\n").split("\n"):
            page.line(f"  {line}")
    if rule.silent:
        page.gap()
        page.paragraph(f"Silent: {rule.silent}")
    if FIXES[rule.fixable]:
        page.gap()
        page.paragraph(FIXES[rule.fixable])
    page.gap()
    page.line(Span(f"{PAGES}{rule.code}/", "dim"))
    return page


def render_line(code: str, width: int = WIDTH) -> Page:
    """Say what a line of every card is about."""
    line = LINES[code]
    page = Page(width)
    page.line(Span(f"{code}: the line {line.name} of a card", "head"))
    page.gap()
    page.paragraph(line.asks)
    page.paragraph("What it takes is the answer of d9m advise for the program's releases.")
    page.gap()
    page.line(Span(PAGES, "dim"))
    return page


def as_markdown(rule: ScanRule) -> str:
    """The same as the body of a page."""
    language = _language(rule.sample)
    parts = [
        f"{rule.severity.capitalize()} · family `{rule.family}`",
        _prose(rule.why),
        f"Bad (`{rule.sample}`):",
        f"```{language}\n{rule.bad.rstrip()}\n```",
        "Good:",
        f"```{language}\n{rule.good.rstrip()}\n```",
    ]
    if rule.silent:
        parts.append(f"**Silent:** {_prose(rule.silent)}")
    if FIXES[rule.fixable]:
        parts.append(FIXES[rule.fixable].replace("d9m scan --fix", "`d9m scan --fix`", 1))
    return "\n\n".join(parts)


def _prose(text: str) -> str:
    """Return a text as Markdown: text between backticks is code, and no sign makes HTML."""
    parts = text.split("`")
    parts[::2] = [part.replace("&", "&amp;").replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def _language(file: str) -> str:
    name, _dot, ending = file.rpartition(".")
    return {"py": "python", "sh": "sh", "yml": "yaml", "yaml": "yaml", "slurm": "sh"}.get(
        ending, "docker" if "ockerfile" in (name or ending) else "text"
    )
