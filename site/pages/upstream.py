"""Pull requests and issues: a page each, tables of all, and the timeline of a record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from d9m.kb.kinds import ISSUES, PULL_REQUESTS
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Issue, PullRequest
from pages import layout, proof
from pages.places import FOLDERS

Thread: TypeAlias = PullRequest | Issue

_LISTED = (
    (
        PULL_REQUESTS,
        "Pull requests",
        "Changes that made ops deterministic, with the release that got each.",
    ),
    (ISSUES, "Issues", "Reports of nondeterminism at the projects themselves."),
)


class Event(msgspec.Struct, frozen=True):
    """One pull request or issue in the story of a record."""

    date: str
    table: str
    id: str
    title: str
    status: str
    version: str


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    for kind, title, description in _LISTED:
        table = kind.table
        threads: dict[str, Thread] = dict(kb.of(kind).items())
        groups: dict[str, list[tuple[str, Thread]]] = {}
        for id_, thread in sorted(threads.items(), key=lambda each: _order(each[1])):
            groups.setdefault(thread.repository, []).append((id_, thread))
        path = f"{FOLDERS[table]}/index.md"
        told = sorted(groups.items())
        yield layout.page(
            kb, path, "threads.md", title, description, hide=("toc",), table=table, groups=told
        )
        for id_, thread in threads.items():
            yield layout.record_page(
                kb,
                table,
                id_,
                "thread.md",
                f"{thread.repository}#{thread.number}: {thread.title}",
                f"{thread.title} ({thread.status}), and the records that it matters to.",
                thread=thread,
                dates=_dates(thread),
                pulls=kind is PULL_REQUESTS,
                proofs=proof.of(kb, thread.evidence),
            )


def _dates(thread: Thread) -> list[tuple[str, str]]:
    """What is known of its course."""
    known = [("Opened", thread.opened)]
    if isinstance(thread, PullRequest):
        known += [("Merged", thread.merged), ("First release with it", thread.version)]
    known += [("Updated, as listed", thread.updated)]
    return [(name, value) for name, value in known if value]


def _order(thread: Thread) -> tuple[str, int, str]:
    number = thread.number
    return thread.repository, int(number) if number.isdecimal() else 0, number


def timeline(kb: KnowledgeBase, references: Iterable[str]) -> list[Event]:
    """What a record refers to, oldest first; what has no date comes last."""
    found = [_event(kb, reference) for reference in references]
    return sorted(found, key=lambda each: (not each.date, each.date, each.id))


def _event(kb: KnowledgeBase, reference: str) -> Event:
    id_ = reference.replace("#", "/")
    pull_request = kb.pull_requests.get(id_)
    table = "pull_requests" if pull_request else "issues"
    thread = pull_request or kb.issues.get(id_)
    if thread is None:
        return Event("", table, id_, reference, "unknown", "")
    merged = thread.merged if isinstance(thread, PullRequest) else None
    version = thread.version if isinstance(thread, PullRequest) else None
    return Event(
        merged or thread.opened or "",
        table,
        id_,
        f"{reference} {thread.title}",
        thread.status,
        version or "",
    )
