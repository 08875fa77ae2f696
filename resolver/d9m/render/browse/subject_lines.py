"""Write the answers about the ops and packages that a text names."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from d9m.browse.named_settings import parameter
from d9m.browse.subject import Subject
from d9m.environment.version_options import naming
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS
from d9m.render import phrases
from d9m.render.advice import op_lines, todo, verdict
from d9m.render.advice.text import environment
from d9m.render.interface import Answer
from d9m.render.page import Page, Span

MOST_CAUSES = 2
"""Records of one op that fit into one line."""


def write_verdict(page: Page, kb: KnowledgeBase, subject: Subject) -> None:
    """Write what the ops of a message do in the named release; nothing where they are
    deterministic.
    """
    answer = Answer(subject.advice, kb, of_message=True, width=page.width)
    says = verdict.sentences(answer)
    if says:
        page.paragraph(says, style="head")
        page.paragraph(environment(answer), style="dim")
        page.gap()


def write(page: Page, kb: KnowledgeBase, subject: Subject, unlisted: Collection[str]) -> None:
    """The advice for what the text names, without what its code sets."""
    answer = Answer(subject.advice, kb, named_ops=bool(subject.ops), width=page.width)
    if subject.names_something:
        page.paragraph(_verdict(kb, subject, answer), style="head")
    page.paragraph(environment(answer), style="dim")
    _assumed(page, kb, subject, unlisted)
    page.gap()
    if verdict.without_device(answer):
        return
    if subject.names_something:
        _ops(page, answer, subject)
    todo.conflicts(page, answer)
    if subject.set_in_text:
        said = [f"{_called(kb, name)} (line {line})" for name, line in subject.set_in_text.items()]
        page.paragraph(f"Set in your text: {phrases.join(said)}.")
    if subject.mentioned:
        names = [_called(kb, name) for name in subject.mentioned]
        are = "it is" if len(names) == 1 else "they are"
        page.paragraph(f"You mention {phrases.join(names)}: make sure {are} on.")
    if subject.set_in_text and subject.missing:
        page.paragraph("Still to set:")
    left = msgspec.structs.replace(subject.advice, steps=subject.missing)
    todo.settings(page, msgspec.structs.replace(answer, advice=left))


def _verdict(kb: KnowledgeBase, subject: Subject, answer: Answer) -> str:
    """Return the verdict on the ops, or on libraries, which no record calls deterministic."""
    if subject.ops or subject.advice.outcome not in REPEATS:
        return verdict.sentences(answer)
    titles = dict.fromkeys(phrases.title(kb, package) for package in subject.packages)
    return f"What the records say of {phrases.join(list(titles))}, with these settings:"


def _ops(page: Page, answer: Answer, subject: Subject) -> None:
    """The ops; of one with many causes, a line for each: a text says little of the arguments."""
    named = [op for op in subject.advice.ops if op.query in subject.ops]
    if max((len(op.sources) for op in named), default=0) <= MOST_CAUSES:
        op_lines.write(page, answer)
        return
    for op in named:
        page.line(Span(f"{op.query} depends on how it is called", "head"))
        op_lines.write_causes(page, answer, op)
    page.gap()


def _called(kb: KnowledgeBase, name: str) -> str:
    """A setting by its name; one at a call by its parameter; a call by what is called."""
    setting = kb.settings[name]
    statement = setting.statement if setting.kind == "code" else None
    return parameter(name) or (statement.partition("(")[0] if statement else name)


def _assumed(page: Page, kb: KnowledgeBase, subject: Subject, unlisted: Collection[str]) -> None:
    """The releases that stand in for those that the text does not name."""
    assumed = [name for name in subject.newest if name not in unlisted]
    if assumed:
        titles = phrases.join([phrases.title(kb, name) for name in assumed])
        since = "".join(f" {fix}." for fix in _fixes(kb, subject, assumed))
        page.paragraph(
            f"You did not name a release of {titles}: this is for the newest.{since} "
            f"Name yours: {' '.join(naming(name, 'VERSION') for name in assumed)}",
            style="dim",
        )
    if subject.device_here is not None:
        device = phrases.DEVICES[subject.device_here]
        page.paragraph(
            f"You did not name a device: this is for that of this machine, the {device}. "
            "Name yours: --device DEVICE",
            style="dim",
        )
    if subject.installed:
        here = phrases.join([phrases.title(kb, name) for name in subject.installed])
        page.paragraph(f"This is for the {here} that is installed here.", style="dim")


def _fixes(kb: KnowledgeBase, subject: Subject, assumed: Collection[str]) -> list[str]:
    """From which releases on named ops can be deterministic, of packages without a release."""
    found: dict[str, list[str]] = {}
    for op in subject.advice.ops:
        for package, release in (op.fixed_in or {}).items():
            is_named = op.query in subject.ops or op.query == "*"
            if is_named and package in assumed and release != kb.releases(package)[0]:
                since = f"{phrases.title(kb, package)} {release} on"
                found.setdefault(since, []).append(op.query)
    return [
        f"{phrases.join(ops).replace('*', 'the library')} can be deterministic from {since}"
        for since, ops in found.items()
    ]
