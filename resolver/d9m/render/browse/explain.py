"""An explanation for a person at a terminal."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Sequence

from d9m.browse.explain import Asked, Explained, NamedSetting
from d9m.browse.explanation import Explanation, paragraphs
from d9m.browse.subject import Subject
from d9m.environment.version_options import naming
from d9m.errors import nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS, Advice
from d9m.model.records import Symptom
from d9m.render import phrases
from d9m.render.browse import subject_lines, symptom
from d9m.render.browse.show import history_table
from d9m.render.page import WIDTH, Page, Span

LONGEST_TEXT = 200
"""Characters of a known message that are shown again; the reader has the rest."""

ASKED: dict[Asked, str] = {
    "differs": "a complaint that results differ",
    "recipe": "a question how to make a program deterministic",
    "setting": "a question what a setting does",
    "versions": "a question which releases are affected",
    "error": "a question about an error without its text",
    "seeds": "a question about other seeds",
}


def render(kb: KnowledgeBase, explained: Explained, width: int = WIDTH) -> Page:
    page = Page(width)
    for found in explained.found:
        _message(page, kb, explained, found)
    if not explained.found:
        _answer(page, kb, explained)
    return page


def _message(page: Page, kb: KnowledgeBase, explained: Explained, found: Explanation) -> None:
    """A message that something prints: what it means here, what to do, every release."""
    page.line(Span(found.title, "head"), f"  {found.kind}, line {found.line}")
    said = found.text
    for name, value in found.parts.items():
        said = said.replace(f"{{{name}}}", value)
    said = re.sub(r"\{[^{}\s]*\}", "…", said)  # what the text leaves out
    shown = textwrap.shorten(said, LONGEST_TEXT, placeholder=" …")
    page.paragraph(f'"{shown}"', "  ", "  ", "dim")
    for name, value in found.parts.items():
        if value not in shown:
            page.paragraph(f"{name}: {value}", "  ", "    ")
    if found.releases:
        where = phrases.conditions(kb, found.releases)
        page.paragraph(f"Printed in these words {where}.", "  ", "  ")
    page.gap()
    subject = explained.subject
    if found.printed != "here":
        page.paragraph(_not_printed(kb, found, subject), style="doubt")
    elif subject is not None:
        subject_lines.write_verdict(page, kb, subject)
    first, *rest = paragraphs(found.advice)
    page.paragraph(first)
    _bullets(page, rest)
    page.gap()
    for history in found.history:
        history_table(page, kb, history, titled=True)
    if found.ops:
        page.paragraph(f"Ops: {', '.join(found.ops)}", "", "  ")
    _sources(page, explained, found.id)


def _not_printed(kb: KnowledgeBase, found: Explanation, subject: Subject | None) -> str:
    """The message is not one of the release that was named."""
    named = _releases(kb, subject.advice) if subject else "The release that you named"
    running = {"older": "An older one", "newer": "A newer one"}.get(found.printed, "Another one")
    return (
        f"{named} does not print this. {running} is running, or the text comes from another "
        "machine."
    )


def _releases(kb: KnowledgeBase, advice: Advice) -> str:
    here = advice.environment
    named: list[str] = []
    for name, version in here.packages.items():
        if name not in here.assumed and version != "any":
            named.append(f"{phrases.title(kb, name)} {version}")
    return phrases.join(named)


def _answer(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """How the text was read, the answer that is sure, what is named, the list, what to type."""
    subject = explained.subject
    _read_as(page, kb, explained)
    _doubts(page, kb, explained)
    wrong = [one for one in explained.settings if not one.is_read or one.refused is not None]
    _settings(page, wrong)
    names_cause = subject is not None and bool(subject.ops) and not _repeats(subject)
    if explained.is_sure and not names_cause:
        _sure(page, kb, explained)
    list_first = subject is None or not (explained.is_sure or subject.names_something)
    if list_first:
        _list(page, explained)
    if subject is not None:
        subject_lines.write(page, kb, subject, explained.unlisted)
    if explained.is_sure and names_cause:
        _sure(page, kb, explained)
    _settings(page, [one for one in explained.settings if one not in wrong])
    if not list_first:
        _list(page, explained)
    _compared(page, kb, explained)
    _type(page, kb, explained)
    is_on_runs = explained.asked in ("differs", "recipe") and not explained.is_unknown_message
    if is_on_runs and _scope(kb, explained) == "run":
        from d9m.render.browse import next_step  # brings the recorder along

        next_step.write(page, kb, explained)
    _sources(page, explained, *[one.id for one in explained.candidates[: explained.is_sure]])


def _repeats(subject: Subject) -> bool:
    return subject.advice.outcome in REPEATS


def _scope(kb: KnowledgeBase, explained: Explained) -> str:
    return _record(kb, explained).scope if explained.is_sure else "run"


def _record(kb: KnowledgeBase, explained: Explained) -> Symptom:
    """The symptom that is meant."""
    return kb.symptoms[explained.candidates[0].id.partition("/")[2]]


def _read_as(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """How the text was read, so that its author sees what was not understood."""
    kind = "a message" if explained.is_unknown_message else ASKED[explained.asked]
    parts = [kind]
    for name, version in explained.packages.items():
        parts.append(f"{phrases.title(kb, name)} {version if version != 'any' else ''}".strip())
    if explained.device is not None:
        parts.append(phrases.DEVICES[explained.device])
    parts += explained.subject.ops if explained.subject is not None else []
    page.paragraph(f"Read as: {', '.join([*parts, *explained.mentioned])}", "", "  ", "dim")
    page.gap()


def _doubts(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """Versions, packages and messages that d9m does not know."""
    if explained.is_unknown_message:
        close = " The nearest on record:" if explained.resembles else ""
        page.paragraph(f"This is not a message that d9m knows.{close}", style="doubt")
        _bullets(page, [f'"{one.text}" (d9m show {one.id})' for one in explained.resembles])
    for package, version in explained.unlisted.items():
        title, subject = phrases.title(kb, package), explained.subject
        is_answered = subject is not None and package in subject.advice.environment.packages
        rest = "is for the releases that it knows" if is_answered else f"leaves {title} out"
        page.paragraph(
            f"No record of d9m is about {title} {version}. What follows {rest}.", style="doubt"
        )
    for name in explained.unknown_packages:
        close = phrases.join(nearest(name, kb.meta.aliases), "or")
        meant = f" Did you mean {close}?" if close else ""
        page.paragraph(f"d9m has no records of {quote(name)}.{meant}", style="doubt")
    if explained.asked == "error" and not explained.is_unknown_message:
        page.paragraph('Paste the last line of the error: d9m explain "LAST LINE"', style="doubt")
    if explained.asked == "seeds":
        page.paragraph(
            "Runs with other seeds give other results on purpose. Compare two runs with one seed.",
            style="head",
        )
    page.gap()


MOST_SETTINGS = 4
"""Settings that a text names, and that an answer describes."""


def _settings(page: Page, settings: Sequence[NamedSetting]) -> None:
    """Settings that the text names and that are not part of the advice."""
    if settings:
        page.line(Span("Settings that you mention", "head"))
    for setting in settings[:MOST_SETTINGS]:
        name, does, unread = setting.name, ":", ""
        meant = f" {setting.instead} was meant." if setting.instead else ""
        if setting.readers:
            unread = f" Only {phrases.join(setting.readers)} reads it: no effect here.{meant}"
        elif not setting.is_read:
            unread = f" Nothing reads it, so it has no effect.{meant}"
        if setting.refused is not None:
            name = f"{name}={setting.refused}"
            does = f" has no effect: it takes {phrases.join(setting.accepted, 'or')}."
        page.paragraph(f"{name}{does} {f'{setting.summary}{unread}'.strip()}", "  • ", "    ")
    page.gap()


def _sure(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """The symptom that is meant, written out."""
    record = _record(kb, explained)
    page.line(Span(record.title, "head"))
    page.paragraph(record.diagnosis)
    symptom.write_advice(page, record.advice, explained.families)


def _list(page: Page, explained: Explained) -> None:
    """The symptoms that the text can mean, each with the question that tells it apart."""
    if not explained.candidates:
        return
    rest = explained.candidates[1:] if explained.is_sure else explained.candidates
    title = "Not that? It may be one of these:" if explained.is_sure else "Which of these is it?"
    page.line(Span(title, "head"))
    for one in rest:
        page.paragraph(f"{one.question} → {one.title} (d9m show {one.id})", "  • ", "    ")
    page.gap()


def _compared(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """How to compare the releases that the text names."""
    for package, releases in explained.releases.items():
        command = f"{naming(package, 'any')} --diff {releases[0]}..{releases[-1]}"
        page.paragraph(
            f"You name {phrases.title(kb, package)} {phrases.join(releases)}. What changed for "
            f"determinism between them: d9m advise {command}"
        )


def _type(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """Write the command to type where the answer is not written out."""
    if explained.asked == "versions" and explained.subject is not None:
        for name in (*explained.subject.ops, *explained.subject.packages):
            page.paragraph(f"Every release: d9m show {shlex.quote(name)}", "", "  ")
    if explained.asked == "setting":
        for setting in explained.settings:
            page.paragraph(f"What {setting.name} sets: d9m show {shlex.quote(setting.name)}")
    elif explained.subject is None and not explained.is_sure:
        named = [
            naming(name, version if version != "any" else "VERSION")
            for name, version in explained.packages.items()
            if name not in kb.meta.platforms
        ]
        command = " ".join(named) or "--torch VERSION"
        page.paragraph(f"What to set for your program: d9m advise {command} --ops OP,OP", "", "  ")


def _bullets(page: Page, points: Sequence[str]) -> None:
    for point in points:
        page.paragraph(point, "  • ", "    ")


def _sources(page: Page, explained: Explained, *ids: str) -> None:
    shown = " · ".join(f"d9m show {id_}" for id_ in ids)
    source = f"Source: {shown} · " if shown else ""
    page.paragraph(f"{source}knowledge base of {explained.d9m.kb_date}", "", "  ", "dim")
