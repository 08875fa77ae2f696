"""The day of a statement: what the evidence says, or what its place is known to date from."""

from __future__ import annotations

import re
from collections.abc import Mapping

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Evidence
from d9m.model.versions import covers

_PLACES = (
    re.compile(
        r"github\.com/[^/]+/([^/]+)/(?:blob|tree|raw|releases/tag)/(?:core_)?v?(\d[\d.]*)(?=[/-]|$)"
    ),
    re.compile(r"(?:^|[/.])([^/.]+)\.\w+/(?:docs|docs/en|en)/[vr]?(\d[\d.]*\d)/"),
    re.compile(r"pypi\.org/project/([^/]+)/(\d[\d.]*)/"),
)
"""Addresses that name a project and its release: a file of a repository, a page of the manual, a
package.
"""

_NOTES = re.compile(r"github\.com/[^/]+/([^/]+)/blob/[\w.]+/(?:RELEASE|CHANGELOG)\.md")
"""Release notes of a project, all in one file."""

_WHEEL = re.compile(r"(.+?)-(\d[\d.]*)")

_RELEASE = re.compile(r"v?(\d+\.\d+(?:\.\d+)?)\b")


def of_evidence(kb: KnowledgeBase, evidence: Evidence, url: str | None) -> str:
    """The day that a wheel, a release, a pull request or an issue dates from, or the day on which
    a page without a date was read; empty where none is known. `url` is the address of its place.
    """
    if evidence.wheel is not None:
        wheel = _WHEEL.match(evidence.wheel)
        return _released(kb, *wheel.groups()) if wheel else ""
    if evidence.read is not None:
        return f"read {evidence.read}"
    thread = (url or "").partition("#")[0].removesuffix("/files")
    document = kb.documents[evidence.document] if evidence.document else None
    return (
        _threads(kb).get(thread)
        or of_release(kb, evidence, url or "")
        or (f"read {document.read}" if document and document.read else "")
    )


def undated(url: str) -> str:
    """Return why a statement at this address has no day."""
    if re.search(r"/[0-9a-f]{7,40}(/|$)", url):
        return "the address names a commit"
    is_fixed = re.search(r"/[a-z]*[0-9]+[.][0-9]", url)
    return "the address names a release" if is_fixed else "the page has none"


def of_release(kb: KnowledgeBase, evidence: Evidence, url: str) -> str:
    """The day of the release that a place names; empty where it names none that is known."""
    notes = _NOTES.search(url)
    noted = _RELEASE.match(evidence.where or "")
    if notes and noted:
        return _released(kb, notes[1], noted[1])
    for place in _PLACES:
        found = place.search(url)
        if found:
            project, release = found.groups()
            return _released(kb, project, release)
    return ""


def _released(kb: KnowledgeBase, project: str, release: str) -> str:
    package = kb.packages.get(_aliases(kb).get(_joined(project), project))
    if package is None:
        return ""
    for name, facts in package.releases.items():
        if facts.date and covers(release, name):
            return facts.date
    return ""


def _aliases(kb: KnowledgeBase) -> Mapping[str, str]:
    """Every name of a package, as repositories may spell it."""
    return kb.once(
        "aliases as one word",
        lambda: {_joined(alias): name for alias, name in kb.meta.aliases.items()},
    )


def _joined(name: str) -> str:
    """TransformerEngine of transformer-engine."""
    return re.sub("[-_.]", "", name.lower())


def _threads(kb: KnowledgeBase) -> Mapping[str, str]:
    return kb.once("days of threads", lambda: _days_of_threads(kb))


def _days_of_threads(kb: KnowledgeBase) -> dict[str, str]:
    """Address -> the day that a pull request was merged, or that a thread was opened."""
    days: dict[str, str] = {}
    for request in kb.pull_requests.values():
        days[request.url] = request.merged or request.opened or ""
    for issue in kb.issues.values():
        days[issue.url] = issue.opened or ""
    return days
