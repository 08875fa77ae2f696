"""Findings as Markdown: for an issue, a pull request, a job's summary."""

from __future__ import annotations

import re

from d9m.trace.findings import Cause
from d9m.trace.report import sentences, text, verdict
from d9m.trace.report.text import FindingsView


def render(view: FindingsView) -> str:
    found = view.findings
    parts = [f"## {_plain(verdict.sentences(found))}", _plain(" · ".join(text.machine(view)))]
    for number, cause in enumerate(found.causes, 1):
        parts += _cause(view, number, cause)
    for head, ops in text.closer(found):
        parts.append(f"### {_plain(head)}")
        for cause in ops:
            parts += _block(view, cause)
    if found.harmless:
        lines: list[str] = []
        for cause in found.harmless:
            said, place = sentences.sentence(found, cause), sentences.place(cause)
            lines.append(f"- {_plain(said)} {_code(place)}".rstrip())
        parts += ["### Differences that reach nothing that is learned", "\n".join(lines)]
    parts += [_plain(note) for note in text.notes(found)]
    parts.append(_plain(text.extent(found)))
    return "\n\n".join(parts) + "\n"


def _cause(view: FindingsView, number: int, cause: Cause) -> list[str]:
    return [
        f"### {number}. {_plain(sentences.sentence(view.findings, cause))}",
        *_block(view, cause),
    ]


def _block(view: FindingsView, cause: Cause) -> list[str]:
    rows = [f"- {name}: {_code(said)}" for name, said in text.facts(view, cause)]
    lines = [line.strip() for line in text.fix(view, cause) if line.strip()]
    block = ["```text\n" + "\n".join(lines) + "\n```"] if lines else []
    return [*(["\n".join(rows)] if rows else []), *block]


def _code(said: str) -> str:
    """As code: names of modules and files hold what Markdown would read as marks."""
    if not said:
        return ""
    fence = "``" if "`" in said else "`"
    pad = " " if fence == "``" else ""
    return f"{fence}{pad}{_one_line(said)}{pad}{fence}"


def _plain(said: str) -> str:
    return re.sub(r"[\\`*_\[\]<>#|]", r"\\\g<0>", _one_line(said))


def _one_line(said: str) -> str:
    return " ".join(said.split())
