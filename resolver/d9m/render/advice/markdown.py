"""The advice as Markdown, for an issue or a wiki."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.model.advice import REPEATS, OpAnswer, SourceAnswer
from d9m.render import words
from d9m.render.advice import blocks, env, python, text, verdict
from d9m.render.interface import Answer, Rendered


def render(answer: Answer) -> Rendered:
    return Rendered("\n".join(_lines(answer)).rstrip() + "\n")


def _lines(answer: Answer) -> Iterator[str]:
    advice = answer.advice
    yield f"**{escape(verdict.sentences(answer))}** {escape(text.environment(answer))}"
    yield ""
    if answer.unknown:
        yield from (f"- {escape(line)}" for line in verdict.unknown_lines(answer))
        yield ""
    if advice.ops:
        yield "| op | outcome | with | fixed in |"
        yield "|---|---|---|---|"
        yield from (_row(answer, op) for op in advice.ops)
        yield ""
    left = blocks.remaining(answer).advice.steps
    if left:
        yield from ("```sh", env.block(answer).rstrip(), "```", "")
        if any(step.kind == "python" for step in left):
            yield from ("```python", python.block(answer).rstrip(), "```", "")
    yield from (f"- {escape(caution.text)}" for caution in advice.cautions)
    yield ""
    yield from map(_source, advice.sources().values())


def _row(answer: Answer, op: OpAnswer) -> str:
    titles = {solution.label: solution.title for solution in answer.advice.solutions}
    with_ = " + ".join(titles.get(label, label) for label in op.solutions) or "-"
    asked = answer.advice.scope
    scope = words.scope_of(asked, op.outcome, op.sources)
    does = words.short(op.outcome, scope)
    if scope != asked and op.outcome in REPEATS:
        does += f", {words.short('no-known-source', asked)}"
    return f"| {_code(op.query)} | {does} | {escape(with_)} | {_fixed_in(op)} |"


def _fixed_in(op: OpAnswer) -> str:
    """Return the release to upgrade to; an op that is deterministic here needs none."""
    if op.outcome in (*REPEATS, "unknown"):
        return "-"
    return "none yet" if op.fixed_in is None else ", ".join(op.fixed_in.values()) or "-"


def _source(source: SourceAnswer) -> str:
    links = [f"[{told.kind}]({told.url})" for told in source.evidence if told.url]
    return f"- {escape(source.title)}: {', '.join(dict.fromkeys(links))}"


def _code(text: str) -> str:
    """Text as code in a cell: only what ends the code or the cell stands for itself."""
    return f"`{text}`".replace("\n", " ").replace("|", "\\|") if "`" not in text else escape(text)


def escape(text: str) -> str:
    """Escape text for Markdown and HTML."""
    for letter in "\\`*_{}[]<>|#":
        text = text.replace(
            letter, f"\\{letter}" if letter not in "<>" else f"&{'lt' if letter == '<' else 'gt'};"
        )
    return text.replace("\n", " ")
