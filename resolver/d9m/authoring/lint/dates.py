"""Dates, and the order in which things can have happened."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from d9m.authoring.lint.index import RecordIndex, readable
from d9m.authoring.lint.releases import package_of
from d9m.authoring.lint.rule import Finding, rule
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import records
from d9m.model.versions import covers

_FORM = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?", re.ASCII)
_DATED = (
    (records.Evidence, "date"),
    (records.Evidence, "read"),
    (records.Document, "date"),
    (records.Document, "read"),
    (records.Correction, "date"),
    (records.Release, "date"),
    (records.PullRequest, "opened"),
    (records.PullRequest, "merged"),
    (records.PullRequest, "updated"),
    (records.Issue, "opened"),
    (records.Issue, "updated"),
)


def is_date(text: str) -> bool:
    """Whether `text` is a year, a month or a day of the calendar, in ISO 8601."""
    if not _FORM.fullmatch(text):
        return False
    try:
        datetime.date.fromisoformat(text + "-01-01"[len(text) - 4 :])
    except ValueError:
        return False
    return True


def _dates(index: RecordIndex) -> Iterator[tuple[Loaded, Path, str]]:
    for type_, field in _DATED:
        for at, path, part in index.parts(type_):
            date: str | None = getattr(part, field)
            if date is not None:
                yield at, (*path, field), date


@rule(
    "date-format",
    "Date that is not ISO 8601",
    """Dates are written YYYY, YYYY-MM or YYYY-MM-DD, as precisely as they are known: that form
    sorts as text and cannot be read as another day.""",
)
def date_format(index: RecordIndex) -> Iterator[Finding]:
    for at, path, date in _dates(index):
        if not is_date(date):
            yield Finding(at, path, "not a date", date, "YYYY, YYYY-MM, YYYY-MM-DD")


@rule(
    "future-date",
    "Date in the future",
    """The newest day that a record names is the date of the edition, which every answer prints.
    Nothing in it can be later than today.""",
)
def future_date(index: RecordIndex) -> Iterator[Finding]:
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    for at, path, date in _dates(index):
        if is_date(date) and date > today[: len(date)]:
            yield Finding(at, path, "after today", date, f"up to {today}")


@rule(
    "undated-document",
    "Document without a day",
    """Pages change without notice. A document says when it was written, or, where it has no date of
    its own, when we read it: only then can a reader tell whether it still says what the record
    says.""",
)
def undated_document(index: RecordIndex) -> Iterator[Finding]:
    for at, path, document in index.parts(records.Document):
        if document.date is None and document.read is None:
            yield Finding(at, path, "has no date", tip="add date:, or read: with the day of today")


@rule(
    "undated-evidence",
    "Address without a day",
    """What an address shows may change, and readers ask how old a statement is. Evidence with an
    address says when the page was published, or, where it does not say, when we read it. A document
    has these days itself; a wheel and a run are of a known release and day.""",
)
def undated_evidence(index: RecordIndex) -> Iterator[Finding]:
    for at, path, evidence in index.parts(records.Evidence):
        if evidence.url is not None and evidence.date is None and evidence.read is None:
            yield Finding(at, path, "has no date", tip="add date:, or read: with the day of today")


@rule(
    "merge-order",
    "Fix older than its merge",
    """A pull request is opened, then merged, then released. A release that is older than the merge
    cannot contain it, so one of the two dates, or the version, is wrong; seed tables had several of
    these. Only a merged pull request has a merge date.""",
)
def merge_order(index: RecordIndex) -> Iterator[Finding]:
    for at, path, request in index.parts(records.PullRequest):
        merged = request.merged
        if merged is None:
            continue
        if request.status != "merged":
            yield Finding(
                at, (*path, "merged"), f"has a merge date, but is {request.status}", merged
            )
        if request.opened is not None and _before(merged, request.opened):
            yield Finding(
                at,
                (*path, "merged"),
                "merged before it was opened",
                merged,
                f"from {request.opened}",
            )
        out = _released(index, request)
        if out is not None and _before(out, merged):
            message = f"released on {out}, before the merge"
            yield Finding(
                at, (*path, "version"), message, request.version or "", f"a release after {merged}"
            )


def _before(first: str, second: str) -> bool:
    """Whether a date is surely before another; dates of different precision are compared as far as
    both go.
    """
    length = min(len(first), len(second))
    return is_date(first) and is_date(second) and first[:length] < second[:length]


def _released(index: RecordIndex, request: records.PullRequest) -> str | None:
    """When the first release came out that is said to contain a pull request."""
    package = package_of(index, request)
    if package is None or request.version is None or readable(request.version) is None:
        return None
    for release in index.releases[package]:
        if covers(request.version, release):
            return index.packages[package].releases[release].date
    return None


RULES = (date_format, future_date, undated_document, undated_evidence, merge_order)
