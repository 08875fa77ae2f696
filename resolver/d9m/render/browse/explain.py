"""An explanation for a person at a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from d9m.browse.explain import Explained
from d9m.browse.explanation import Explanation, paragraphs
from d9m.browse.subject import Subject
from d9m.browse.unadvised_settings import NamedSetting
from d9m.environment.version_options import naming
from d9m.errors import nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS, Advice
from d9m.render import phrases
from d9m.render.browse import subject_lines
from d9m.render.browse.show import history_table
from d9m.render.page import WIDTH, Page, Span

LONGEST_TEXT = 200
"""Characters of a known message that are shown again; the reader has the rest."""


def render(kb: KnowledgeBase, explained: Explained, width: int = WIDTH) -> Page:
    page = Page(width)
    if any(found.certainty == "certain" for found in explained.found):
        for found in explained.found:
            _message(page, kb, explained, found)
    else:
        _complaint(page, kb, explained)
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
        page.paragraph(f"Messages of this kind are worded so {where}.", "  ", "  ")
    page.gap()
    subject = explained.subject
    if found.printed != "here":
        page.paragraph(_not_printed(kb, found, subject), style="doubt")
    elif subject is not None:
        subject_lines.write_verdict(page, kb, subject)
    _points(page, found.advice)
    page.gap()
    _settings(page, explained.settings)
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


def _complaint(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """What is named comes first, then what the words describe, then the next step."""
    subject = explained.subject
    about_names = subject is not None and subject.names_something
    found = explained.found
    symptoms_first = bool(found) and (not about_names or _is_described(explained))
    _unknown(page, explained)
    _unlisted(page, kb, explained)
    _unknown_packages(page, kb, explained)
    urgent = [setting for setting in explained.settings if _comes_first(explained, setting)]
    _settings(page, urgent)
    is_led = bool(explained.remaining_causes) or symptoms_first
    still_first = bool(explained.remaining_causes) and not _names_cause(explained)
    if still_first:
        _still(page, [*explained.remaining_causes, *explained.models])
    elif symptoms_first and not explained.remaining_causes:
        _symptoms(page, explained)
    if symptoms_first:
        _reading(page, explained)
    if subject is not None and symptoms_first and subject.ops and not _on_scope(explained):
        subject_lines.write_aside(page, subject)
    elif subject is not None and symptoms_first and _is_about_more(explained, subject):
        subject_lines.write_below(page, subject)
    elif subject is not None:
        unnamed = (*kb.word_lists.beyond_switch, kb.word_lists.with_switch)
        names_switch = not explained.remaining_causes and not any(
            one.id in unnamed for one in found
        )
        subject_lines.write(page, kb, subject, explained.unlisted, still_first, names_switch)
    if about_names and not symptoms_first and not explained.remaining_causes:
        _symptoms(page, explained, other=True)
    if not explained.remaining_causes:
        _further(page, found)
    elsewhere = [*([] if is_led else explained.models), *explained.other_causes]
    if explained.remaining_causes and not still_first:
        elsewhere = [*explained.models, *explained.remaining_causes[1:]]
    if elsewhere:
        page.line(Span("Where else the difference can come from", "head"))
        _bullets(page, elsewhere)
        page.gap()
    _settings(page, [setting for setting in explained.settings if setting not in urgent])
    _compared(page, kb, explained)
    _from_run_to_run(page, kb, explained)
    if (found or subject) and all(
        explanation.scope == "run" and explanation.on_runs for explanation in found
    ):
        from d9m.render.browse import next_step  # brings the recorder along

        next_step.write(page, kb, explained)
    _sources(page, explained, *(explanation.id for explanation in found))


def _comes_first(explained: Explained, setting: NamedSetting) -> bool:
    """Whether a setting does not do what somebody made it for. One of another framework only stands
    for what is wanted here, where the answer says how to get that.
    """
    if setting.readers and any(found.is_led for found in explained.found):
        return False
    return not setting.is_read or bool(setting.misses) or setting.refused is not None


def _names_cause(explained: Explained) -> bool:
    """Whether the text names an op that can differ with all settings made."""
    subject = explained.subject
    return subject is not None and bool(subject.ops) and subject.advice.outcome not in REPEATS


def _reading(page: Page, explained: Explained) -> None:
    """How a text was read, and what else to ask for."""
    reading = explained.reading
    if reading is None:
        return
    others = phrases.join(reading.others, "or")
    see = f"d9m show {others}" if others else "d9m list symptoms"
    page.paragraph(f'Read as "{reading.title}". Something else? {see}', style="doubt")
    page.gap()


def _unlisted(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """Versions that the text names and that no record knows."""
    for package, version in explained.unlisted.items():
        title = phrases.title(kb, package)
        subject = explained.subject
        is_answered = subject is not None and package in subject.advice.environment.packages
        rest = "is for the releases that it knows" if is_answered else f"leaves {title} out"
        page.paragraph(
            f"No record of d9m is about {title} {version}. What follows {rest}.", style="doubt"
        )


def _unknown_packages(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """Packages of which d9m knows nothing."""
    for name in explained.unknown_packages:
        close = nearest(name, kb.meta.aliases)
        meant = f" Did you mean {phrases.join(close, 'or')}?" if close else ""
        page.paragraph(f"d9m has no records of {quote(name)}.{meant}", style="doubt")
    if explained.unknown_packages:
        page.gap()


def _compared(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """How to compare the releases that the text names."""
    for package, releases in explained.releases.items():
        command = f"{naming(package, 'any')} --diff {releases[0]}..{releases[-1]}"
        named = phrases.join(releases)
        page.paragraph(
            f"You name {phrases.title(kb, package)} {named}. What changed for determinism between "
            f"them: d9m advise {command}"
        )


def _from_run_to_run(page: Page, kb: KnowledgeBase, explained: Explained) -> None:
    """How to ask what else changes the answers of a server, below what its batches change."""
    subject = explained.subject
    if subject is None or subject.advice.scope != "batch":
        return
    servers = [package for package in subject.packages if kb.packages[package].is_server]
    versions = subject.advice.environment.packages
    named = " ".join(naming(name, versions[name]) for name in servers)
    if named:
        page.paragraph(f"What else changes its answers from run to run: d9m advise {named}")


def _is_about_more(explained: Explained, subject: Subject) -> bool:
    """Whether a symptom of runs that settings do not answer stands above ops that repeat with what
    the text names as made.
    """
    first = explained.found[0]
    if first.by_settings or first.scope != "run" or not first.on_runs or not subject.ops:
        return False
    needed = set[str]()
    for op in subject.advice.ops:
        for source in op.sources:
            needed.update(source.solutions)
    missing = any(not needed.isdisjoint(step.solutions) for step in subject.missing)
    return subject.advice.outcome in REPEATS and not missing


def _is_described(explained: Explained) -> bool:
    """Whether a symptom answers more than what the records say of the names: it is about other
    than runs, or every op and package that the text names repeats here, or does so in some uses, or
    nobody has checked them.
    """
    subject = explained.subject
    if explained.found[0].by_settings:
        return True
    if subject is None or subject.advice.scope != "run":
        return True
    if not any(found.on_runs for found in explained.found):
        return True
    if explained.found[0].certainty != "likely":
        return False
    return not subject.ops or subject.advice.outcome in (*REPEATS, "depends", "unknown")


def _on_scope(explained: Explained) -> bool:
    """Whether the records say of the names what the complaint is about."""
    subject = explained.subject
    return subject is None or subject.advice.scope != "run" or explained.found[0].on_runs


def _unknown(page: Page, explained: Explained) -> None:
    """That a message is none on record, and what it nearly is."""
    if not explained.is_unknown_message:
        return
    nearest = " The nearest on record:" if explained.resembles else ""
    page.paragraph(f"This is not a message that d9m knows.{nearest}", style="doubt")
    for message in explained.resembles:
        page.paragraph(f'"{message.text}" (d9m show {message.id})', "  • ", "    ")
    page.gap()


MOST_SETTINGS = 4
"""Settings that a text names, and that an answer describes."""


def _settings(page: Page, settings: Sequence[NamedSetting]) -> None:
    """Settings that the text names and that are not part of the advice."""
    if not settings:
        return
    page.line(Span("Settings that you mention", "head"))
    for setting in settings[:MOST_SETTINGS]:
        meant = f" {setting.instead} was meant." if setting.instead else ""
        does = ":"
        if setting.is_read:
            unread = ""
        elif setting.readers:
            unread = f" Only {phrases.join(setting.readers)} reads it: no effect here.{meant}"
        else:
            unread = f" Nothing reads it, so it has no effect.{meant}"
        if setting.misses:
            does = f" does not reach {phrases.join(setting.misses)}."
        name = setting.name
        if setting.refused is not None:
            name = f"{name}={setting.refused}"
            does = f" has no effect: it takes {phrases.join(setting.accepted, 'or')}."
        said = f"{setting.summary}{unread}".strip()
        page.paragraph(f"{name}{does} {said}", "  • ", "    ")
    page.gap()


def _still(page: Page, paragraphs: Sequence[str]) -> None:
    """What can differ although the settings are made."""
    first, *rest = paragraphs
    page.paragraph(first, style="head")
    _bullets(page, rest)
    page.gap()


def _symptoms(page: Page, explained: Explained, other: bool = False) -> None:
    """One symptom as the answer; two as two, with what each would mean. Of one that settings
    answer the rest follows them.
    """
    found = explained.found
    if len(found) == 1 and not other:
        first, *rest = paragraphs(found[0].advice)
        page.paragraph(first, style="head")
        if found[0].by_settings:
            _bullets(page, [*explained.models, *explained.switches, *found[0].points])
        else:
            _bullets(page, [*explained.models, *found[0].points, *_others(found[0], rest)])
    elif found:
        page.line(Span("What you describe" if other else "This can be one of two things:", "head"))
        for number, explanation in enumerate(found, 1):
            label = f"{number}. {explanation.title}" if len(found) > 1 else explanation.title
            page.paragraph(label, "", "   ", "head")
            first, *rest = paragraphs(explanation.advice)
            page.paragraph(first)
            _bullets(page, [*explanation.points, *_others(explanation, rest)])
    page.gap()


def _further(page: Page, found: list[Explanation]) -> None:
    """What else can be the cause where the settings of an answer do not help."""
    if len(found) != 1 or not found[0].by_settings:
        return
    _first, *rest = paragraphs(found[0].advice)
    others = _others(found[0], rest)
    if others:
        page.gap()
        page.line(Span("If runs still differ", "head"))
        _bullets(page, others)
        page.gap()


def _others(found: Explanation, rest: Sequence[str]) -> list[str]:
    """The paragraphs that are not about a named package."""
    said = {" ".join(point.split()) for point in found.points}
    return [paragraph for paragraph in rest if paragraph not in said]


def _points(page: Page, advice: str) -> None:
    """A paragraph with the answer, then one for each point."""
    first, *rest = paragraphs(advice)
    page.paragraph(first)
    _bullets(page, rest)


def _bullets(page: Page, points: Sequence[str]) -> None:
    for point in points:
        page.paragraph(point, "  • ", "    ")


def _sources(page: Page, explained: Explained, *ids: str) -> None:
    shown = " · ".join(f"d9m show {id_}" for id_ in ids)
    source = f"Source: {shown} · " if shown else ""
    page.paragraph(f"{source}knowledge base of {explained.d9m.kb_date}", "", "  ", "dim")
    page.gap()
