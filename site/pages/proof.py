"""Evidence as rows of a table: who says so, where, and whether the record follows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Citation
from d9m.model.records import Evidence, Source
from d9m.model.when import Range
from d9m.resolve.answers import cite
from pages import dates, markdown, phrases
from pages.markdown import Markdown


class Proof(msgspec.Struct, frozen=True):
    """One statement by somebody."""

    about: str
    """What of the record rests on it; empty for the whole."""
    kind: str
    place: Markdown
    date: Markdown
    note: str
    follows: bool


def of(kb: KnowledgeBase, evidence: Iterable[Evidence], about: str = "") -> list[Proof]:
    """Evidence of one part of a record."""
    return [_proof(kb, each, about) for each in evidence]


def of_source(kb: KnowledgeBase, source: Source) -> list[Proof]:
    """All evidence of a source: what is said of the whole, of each step, and of what goes with
    it.
    """
    found = of(kb, source.evidence)
    for package, steps in source.timeline.items():
        ends = [*(step.from_ for step in steps[1:]), None]
        for step, end in zip(steps, ends):
            span = phrases.span(Range(from_=step.from_, until=end), kb.releases(package))
            about = f"{package} {span}"
            found += of(kb, step.evidence, about)
            for exception in step.unless:
                found += of(kb, exception.evidence, f"{about}, {phrases.plain(kb, exception.when)}")
    for name, parts in (
        ("caution", source.cautions),
        ("work-around", source.workarounds),
        ("cost", source.costs),
    ):
        for part in parts:
            found += of(kb, part.evidence, name)
    return list(dict.fromkeys(found))


def _proof(kb: KnowledgeBase, evidence: Evidence, about: str) -> Proof:
    cited = cite(kb, evidence)
    place = Markdown("".join(_place(kb, evidence, cited.url)))
    return Proof(
        about, cited.kind, place, _day(kb, evidence, cited), cited.note or "", cited.follows
    )


def _day(kb: KnowledgeBase, evidence: Evidence, cited: Citation) -> Markdown:
    """Return when the statement was published, measured or read, or why no day is known. Release
    notes in one file date from the release that they name.
    """
    url = cited.url or ""
    release = dates.of_release(kb, evidence, url) if cited.kind == "release-note" else ""
    day = release or cited.date or dates.of_evidence(kb, evidence, cited.url)
    if not day:
        return Markdown(f"no date: {dates.undated(url)}")
    verb = "measured" if cited.kind == "measured" else "published"
    return markdown.dated(day, verb)


def _place(kb: KnowledgeBase, evidence: Evidence, url: str | None) -> Iterator[str]:
    if evidence.run is not None and url is not None:
        yield markdown.link(f"run {evidence.run}", url)
    elif evidence.wheel is not None and url is not None:
        yield markdown.link(f"wheel of {evidence.wheel.replace('-', ' ', 1)}", url)
    elif url is not None:
        document = kb.documents[evidence.document] if evidence.document else None
        yield markdown.link(document.title if document else _short(url), url)
    else:
        yield markdown.escape(evidence.document or "")
    if evidence.where:
        yield f", {markdown.escape(evidence.where)}"


def _short(url: str) -> str:
    """An address without what every address has."""
    return url.partition("://")[2].rstrip("/")
