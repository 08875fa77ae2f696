"""Evidence: every statement has a place to look at."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from d9m.authoring.lint.index import RecordIndex
from d9m.authoring.lint.rule import Finding, rule
from d9m.errors import nearest
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import records

PLACES = ("document", "url", "run", "wheel")


@rule(
    "missing-evidence",
    "Statement without evidence",
    """Nothing is believed here because it is written here. Each record says who says so, with a
    place to look it up, and follows at least one of those it names. A cost given as a factor was
    measured by somebody: say by whom.""",
)
def missing_evidence(index: RecordIndex) -> Iterator[Finding]:
    followed = {at.file for at, _path, cited in index.parts(records.Evidence) if cited.follows}
    for loaded in index.kinds.values():
        for at in loaded.values():
            given: list[records.Evidence] | None = getattr(at.record, "evidence", None)
            if given is not None and not (given and at.file in followed):
                message = "follows none of its evidence" if given else "has no evidence"
                yield Finding(
                    at, ("evidence",), message, tip="add evidence: kind, and a document or url"
                )
    for at, path, cost in index.parts(records.Cost):
        if cost.factor is not None and not cost.evidence:
            yield Finding(
                at,
                (*path, "factor"),
                "a factor without evidence",
                cost.factor,
                tip="add evidence to the cost",
            )


@rule(
    "evidence-place",
    "Evidence with no place, or with two",
    """Each piece of evidence names exactly one place: a document of kb/documents/, an address, a
    measured run, or the fact file of a wheel. With two it would be open which of them says it; with
    none nobody can look it up.""",
)
def evidence_place(index: RecordIndex) -> Iterator[Finding]:
    for at, path, evidence in index.parts(records.Evidence):
        given = [name for name in PLACES if getattr(evidence, name) is not None]
        if len(given) != 1:
            message = "names more than one place" if given else "names no place"
            yield Finding(
                at, path, message, ", ".join(given), f"exactly one of {', '.join(PLACES)}"
            )


@rule(
    "wheel-not-read",
    "Fact file that does not exist",
    """A statement about what a release ships can cite the facts that were extracted from its wheel,
    by the name of the file under kb/evidence/wheels/ without .json. `d9m kb audit` compares these
    files with the records, so what cites one stays true to it.""",
)
def wheel_not_read(index: RecordIndex) -> Iterator[Finding]:
    for at, path, cited in index.parts(records.Evidence):
        if cited.wheel is not None and cited.wheel not in index.wheels:
            allowed = ", ".join(nearest(cited.wheel, index.wheels))
            file = f"kb/evidence/wheels/{cited.wheel}.json"
            tip = f"read it: d9m kb collect PACKAGE VERSION -o {file}"
            yield Finding(at, (*path, "wheel"), "no such fact file", cited.wheel, allowed, tip)


@rule(
    "evidence-note",
    "Disagreement without a note",
    """A statement that the record does not follow is kept in view, so that a reader who knows it is
    not left to wonder. The note says, in our words, what it claims: without it, `follows: false`
    only says that something is wrong somewhere.""",
)
def evidence_note(index: RecordIndex) -> Iterator[Finding]:
    for at, path, evidence in index.parts(records.Evidence):
        if not evidence.follows and not evidence.note:
            yield Finding(
                at, path, "disagrees, but does not say in what", tip="add a note: what it says"
            )


def addresses(index: RecordIndex) -> Iterator[tuple[Loaded, Path, str]]:
    """Every `url` of every record."""
    for part in index.texts():
        if part.path[-1:] == ("url",):
            yield part.at, part.path, part.value


@rule(
    "insecure-url",
    "Address that is not https",
    """Addresses are https, so that a reader gets what the author saw, and complete, so that
    they can be clicked.""",
)
def insecure_url(index: RecordIndex) -> Iterator[Finding]:
    for at, path, url in addresses(index):
        if not _is_https(url):
            tip = (
                f"write https{url[4:]}"
                if url.startswith("http://")
                else "write the full address: https://…"
            )
            yield Finding(at, path, "not an https address", url, tip=tip)


def _is_https(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return (
        parts.scheme == "https"
        and "." in parts.netloc
        and not any(letter.isspace() for letter in url)
    )


MOST_CITING = 2
"""Records that may write out the same address; a third is the time to make it a document.
"""


@rule(
    "duplicate-url",
    "Address written in several places",
    """A page that several records cite becomes one record under documents/, cited by id: when it
    moves, one line changes, and its readers see all that rests on it. So no two documents share an
    address, nobody writes out an address that a document has, and an address in more than two
    records becomes a document.""",
)
def duplicate_url(index: RecordIndex) -> Iterator[Finding]:
    owners: dict[str, Loaded] = {}
    for kind in ("documents", "pull_requests", "issues"):
        for at in index.kinds[kind].values():
            first = owners.setdefault(_same(at.record.url), at)
            if first is not at:
                yield Finding(
                    at,
                    ("url",),
                    f"is the address of {first.file} too",
                    at.record.url,
                    tip="keep one of the two",
                )
    users: dict[str, dict[str, tuple[Loaded, Path]]] = {}
    for at, path, evidence in index.parts(records.Evidence):
        if evidence.url is None:
            continue
        owner = owners.get(_same(evidence.url))
        if owner is not None and owner.kind == "documents":
            tip = f"write document: {owner.id}"
            yield Finding(
                at, (*path, "url"), f"is the address of {owner.file}", evidence.url, tip=tip
            )
        elif owner is None:
            users.setdefault(_same(evidence.url), {}).setdefault(at.file, (at, (*path, "url")))
    for url, by_file in users.items():
        if len(by_file) > MOST_CITING:
            at, path = list(by_file.values())[MOST_CITING]
            others = ", ".join(file for file in by_file if file != at.file)
            yield Finding(
                at,
                path,
                f"address is written in {others} too",
                url,
                tip="make it a record under documents/",
            )


def _same(url: str) -> str:
    """Addresses that lead to the same place are equal in this form."""
    return url.rstrip("/").replace("http://", "https://", 1)


_TO_READ = ("talk", "slides", "poster", "plan")
"""Kinds of documents that the site lists for readers, whether or not a record cites them."""


@rule(
    "unused-document",
    "Document that nothing cites",
    """A document is there to be cited. One that no record cites is a leftover, or the citation was
    forgotten, or it is misspelt elsewhere.""",
)
def unused_document(index: RecordIndex) -> Iterator[Finding]:
    used = {each.document for _at, _path, each in index.parts(records.Evidence)}
    whole = all(index.complete(kind) for kind in index.kinds)
    for id_, at in index.kinds["documents"].items():
        if whole and id_ not in used and at.record.kind not in _TO_READ:
            yield Finding(
                at, (), "no record cites it", id_, tip="cite it as evidence, or delete it"
            )


RULES = (
    missing_evidence,
    evidence_place,
    wheel_not_read,
    evidence_note,
    insecure_url,
    duplicate_url,
    unused_document,
)
