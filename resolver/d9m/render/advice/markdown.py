"""The advice as Markdown, for an issue or a wiki."""

from __future__ import annotations

from d9m.model.advice import Advice, SourceAnswer
from d9m.render import words
from d9m.render.advice import env, python


def render(advice: Advice, command: str, frameworks: tuple[str, ...]) -> str:
    lines = [f"**{words.shout(advice.outcome)}** {escape(words.environment(advice))}", ""]
    if advice.ops:
        lines += ["| op | outcome | with | fixed for good in |", "|---|---|---|---|"]
        lines += [
            f"| `{escape(op.query)}` | {op.outcome} | {' + '.join(op.solutions) or '-'} | "
            f"{', '.join(op.fixed_in.values()) or '-' if op.fixed_in is not None else 'none yet'} |"
            for op in advice.ops
        ]
        lines.append("")
    if advice.steps:
        lines += ["```sh", env.render(advice, command).rstrip(), "```", ""]
        if any(step.kind == "python" for step in advice.steps):
            lines += ["```python", python.render(advice, command, frameworks).rstrip(), "```", ""]
    lines += [f"- {escape(each.text)}" for each in advice.cautions]
    sources = {source.id: source for op in advice.ops for source in op.sources}
    lines += ["", *(line for source in sources.values() for line in _source(source))]
    return "\n".join(lines).rstrip() + "\n"


def _source(source: SourceAnswer) -> list[str]:
    links = [f"[{each.kind}]({each.url})" for each in source.evidence if each.url]
    return [f"- {escape(source.title)} ({source.outcome}): {', '.join(dict.fromkeys(links))}"]


def escape(text: str) -> str:
    """Text that Markdown and HTML show as it is."""
    for letter in "\\`*_{}[]<>|#":
        text = text.replace(letter, f"\\{letter}" if letter not in "<>" else f"&{'lt' if letter == '<' else 'gt'};")
    return text.replace("\n", " ")
